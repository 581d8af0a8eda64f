import type { Sql } from '../../src/db/pool.ts';

/** Holds an Idempotency-Key as a request that is under way does; `release` lets it fail. */
export async function holdKey(sql: Sql, partnerId: string, operation: string, key: string) {
  const released = Promise.withResolvers<void>();
  const taken = Promise.withResolvers<void>();
  const holding = sql
    .begin(async (tx) => {
      await tx`
        insert into idempotency_keys (partner_id, operation, key, request_hash)
        values (${partnerId}, ${operation}, ${key}, ${Buffer.alloc(32)})`;
      taken.resolve();
      await released.promise;
      throw new Error('rolled back');
    })
    .catch(() => undefined);
  await taken.promise;
  return {
    async release(): Promise<void> {
      released.resolve();
      await holding;
    },
  };
}
