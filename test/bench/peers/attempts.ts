/** The peers' attempt rows: durable before the job counts as done, many in one insert. */
import type { Sql, Tx } from '../../../src/db/pool.ts';

export interface AttemptRow {
  readonly delivery: string;
  readonly webhook: string;
  readonly statusCode: number;
  readonly startedAtMs: number;
  readonly durationMs: number;
  readonly url: string;
}

export async function createAttempts(sql: Sql): Promise<void> {
  await sql`
    create table attempts (
      delivery_id uuid not null, number int not null default 1, webhook_id uuid not null, outcome text not null,
      status_code smallint, started_at timestamptz not null, duration_ms int, url text not null,
      primary key (delivery_id, number)
    )`;
}

/** `text` and `values` of one insert, for any driver. */
export function insertStatement(rows: readonly AttemptRow[]): { text: string; values: unknown[] } {
  return {
    text: `insert into attempts (delivery_id, webhook_id, outcome, status_code, started_at, duration_ms, url)
      select id, webhook, case when status between 200 and 299 then 'entregue' else 'resposta_nao_2xx' end, status,
             to_timestamp(started / 1000), duration, url
      from unnest($1::uuid[], $2::uuid[], $3::int[], $4::float8[], $5::int[], $6::text[])
        as r (id, webhook, status, started, duration, url)`,
    values: [
      rows.map((row) => row.delivery),
      rows.map((row) => row.webhook),
      rows.map((row) => row.statusCode),
      rows.map((row) => row.startedAtMs),
      rows.map((row) => Math.round(row.durationMs)),
      rows.map((row) => row.url),
    ],
  };
}

export async function insertAttempts(tx: Tx, rows: readonly AttemptRow[]): Promise<void> {
  const { text, values } = insertStatement(rows);
  await tx.unsafe(text, values as never[], { prepare: true });
}

/** Gathers rows while an insert is under way; `add` resolves when its row is durable. */
export class AttemptLog {
  readonly #sql: Sql;
  #waiting: { row: AttemptRow; resolve: () => void; reject: (error: unknown) => void }[] = [];
  #isRunning = false;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  async add(row: AttemptRow): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push({ row, resolve, reject });
    if (!this.#isRunning) void this.#run();
    return promise;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      try {
        await insertAttempts(
          this.#sql,
          batch.map(({ row }) => row),
        );
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#isRunning = false;
  }
}
