/**
 * `worker_events`: the events that hold a CPF, by its keyed digest. A search by CPF and an order to erase read it.
 *
 * Invariant: it covers every event up to the cursor, in the log's order and below `pg_snapshot_xmin`; the cursor moves in the
 * transaction that wrote the digests. We search the whole text of every event, also free texts, whoever appended it. The cursor
 * has the key's name: with a new key we read the log again, and old digests match no search. A loan's events are archived only
 * after they are indexed; a new key waits until all are restored.
 * Alternative: digests made by `append_event`; the key would then be in the database.
 */
import { cpfsIn } from '../../contract/masking/cpf.ts';
import { MASK_IN_SQL } from '../../contract/masking/mask-in-sql.ts';
import type { Pool, Tx } from '../../db/pool.ts';
import { runLoop } from '../../db/outage-log.ts';
import { moveTo, readProgress, readSettled } from '../../log/follow.ts';
import type { Logger } from '../../log-lines.ts';
import { digestOf, type WorkerKey } from './worker-key.ts';

const BATCH_EVENTS = 1_000;
export const EVERY_MS = 5_000;
const AFTER_FAULT_MS = 15_000;

/** Reads the next settled events; true when more may be left. */
async function indexBatch(pool: Pool, key: WorkerKey): Promise<boolean> {
  return pool.transaction(async (tx) => {
    const name = `workers/${key.id}`;
    const made = await tx`
      insert into projections (name, tx, position) values (${name}, '0', 0) on conflict (name) do nothing returning name`;
    if (made.length > 0 && (await tx`select from loans where away_digest is not null limit 1`).length > 0)
      throw new Error(
        'with a new key the whole log is read, and histories of loans are archived: archive restore brings them back',
      );
    await tx`select from projections where name = ${name} for update`;
    const events = await readSettled(tx, await readProgress(tx, name), BATCH_EVENTS, []);
    const last = events.at(-1);
    if (last === undefined) return false;
    const texts = await readTexts(
      tx,
      events.map(({ id }) => id),
    );
    const found = texts.flatMap(({ id, stream, text }) =>
      Array.from(cpfsIn(text), (cpf) => ({
        id,
        stream,
        digest: digestOf(key, cpf).toString('hex'),
        own: isOf(text, cpf),
      })),
    );
    if (found.length > 0)
      await tx`
        insert into worker_events (event_id, stream, digest, is_own)
        select id, stream, decode(digest, 'hex'), own
        from json_to_recordset(${JSON.stringify(found)}::text::json) as found (id uuid, stream uuid, digest text, own boolean)
        on conflict do nothing`;
    await moveTo(tx, name, last);
    return events.length === BATCH_EVENTS;
  });
}

/** The data of those of the events in which something looks like a CPF. */
function readTexts(tx: Tx, ids: readonly string[]) {
  return tx<{ id: string; stream: string; text: string }[]>`
    select id, stream, data::text as text
    from events
    where id = any (${ids as string[]}::uuid[])
      and case when octet_length(data::text) <= 1048576 then data::text ~ ${MASK_IN_SQL.ELEVEN_DIGITS} end`;
}

/** Whether the event, or the example that a test sends, is about the worker of that CPF. */
function isOf(text: string, cpf: string): boolean {
  const data = JSON.parse(text) as { cpf_trabalhador?: unknown; data?: { cpf_trabalhador?: unknown } | null };
  return data.cpf_trabalhador === cpf || data.data?.cpf_trabalhador === cpf;
}

/** Reads all that is settled now. */
export async function indexWorkers(pool: Pool, key: WorkerKey): Promise<void> {
  while (await indexBatch(pool, key));
}

/** Follows the log until `signal` is aborted, through outages too. */
export async function runWorkerIndex(
  { pool, log }: { readonly pool: Pool; readonly log: Logger },
  key: WorkerKey,
  signal: AbortSignal,
): Promise<void> {
  const loop = {
    log,
    afterFaultMs: AFTER_FAULT_MS,
    away: 'the database is out of reach, looking for CPFs later',
    fault: 'events could not be searched for CPFs',
  };
  await runLoop(loop, signal, async () => ((await indexBatch(pool, key)) ? 0 : EVERY_MS));
}
