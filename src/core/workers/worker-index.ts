/**
 * In which events a CPF stands: `worker_events`, by keyed digest. A search by CPF reads it, and an order to erase lists what it has.
 *
 * Invariant: every event up to the cursor is in, in the log's order and below `pg_snapshot_xmin`, so one that commits late is
 * still ahead of the cursor; the cursor moves in the transaction that wrote the digests. A crash repeats a turn. It reads the text
 * of every event, tests and notices too, whoever appended it: a CPF in a free text is found as well.
 * The cursor bears the key's name. A new key reads the log anew, and digests of the key before find nobody any more.
 * Alternative: a digest that `append_event` writes needs the key in the database.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { CPF_LIKE, cpfsIn } from '../../contract/tax-ids.ts';
import { logFailedTry } from '../../db/outage-log.ts';
import type { Pool, Tx } from '../../db/pool.ts';
import type { Logger } from '../../log-lines.ts';
import { digestOf, type WorkerKey } from './worker-key.ts';

const TURN_EVENTS = 1_000;
const EVERY_MS = 5_000;
const AFTER_FAULT_MS = 15_000;

interface Row {
  readonly id: string;
  readonly stream: string;
  readonly epoch: string;
  readonly tx: string;
  readonly position: string;
  /** The data, where something in it looks like a CPF. */
  readonly text: string | null;
}

/** Reads the next settled events; true when more may be left. */
async function indexTurn(pool: Pool, key: WorkerKey): Promise<boolean> {
  return pool.transaction(async (tx) => {
    const name = `workers/${key.id}`;
    await tx`insert into projections (name, tx, position) values (${name}, '0', 0) on conflict (name) do nothing`;
    const [place] = await tx<Pick<Row, 'epoch' | 'tx' | 'position'>[]>`
      select epoch::text, tx::text, position::text from projections where name = ${name} for update`;
    const rows = place === undefined ? [] : await readNext(tx, place);
    const found = rows.flatMap(({ id, stream, text }) =>
      text === null
        ? []
        : [...cpfsIn(text)].map((cpf) => ({ id, stream, digest: digestOf(key, cpf), isOwn: isOf(text, cpf) })),
    );
    if (found.length > 0) {
      await tx`
        insert into worker_events (event_id, stream, digest, is_own)
        select id, stream, decode(digest, 'hex'), is_own::boolean
        from unnest(${found.map(({ id }) => id)}::uuid[], ${found.map(({ stream }) => stream)}::uuid[],
                    ${found.map(({ digest }) => digest.toString('hex'))}::text[],
                    ${found.map(({ isOwn }) => String(isOwn))}::text[]) as found (id, stream, digest, is_own)
        on conflict do nothing`;
    }
    const last = rows.at(-1);
    if (last !== undefined) {
      await tx`
        update projections
        set epoch = ${last.epoch}::text::smallint, tx = ${last.tx}::text::xid8, position = ${last.position}::text::bigint
        where name = ${name}`;
    }
    return rows.length === TURN_EVENTS;
  });
}

function readNext(tx: Tx, after: Pick<Row, 'epoch' | 'tx' | 'position'>): Promise<Row[]> {
  return tx<Row[]>`
    select e.id, e.stream, e.epoch::text, e.tx::text, e.position::text,
           case when octet_length(e.data::text) <= 1048576 and e.data::text ~ ${CPF_LIKE} then e.data::text end as text
    from partners p
    -- The index of a partner's events has each kind by itself.
    cross join (values (false), (true)) kind (imported)
    cross join lateral (
      select id, stream, epoch, tx, position, data
      from events
      where partner_id = p.id and imported = kind.imported
        and (epoch, tx) < (current_epoch(), pg_snapshot_xmin(pg_current_snapshot()))
        and (epoch < (select own_from from installation) or tx < pg_snapshot_xmin(pg_current_snapshot()))
        and (epoch, tx, position)
          > (${after.epoch}::text::smallint, ${after.tx}::text::xid8, ${after.position}::text::bigint)
      order by epoch, tx, position
      limit ${TURN_EVENTS}
    ) e
    order by e.epoch, e.tx, e.position
    limit ${TURN_EVENTS}`;
}

/** Whether the event is about the worker of that CPF. */
function isOf(text: string, cpf: string): boolean {
  const data = JSON.parse(text) as { cpf_trabalhador?: unknown };
  return data.cpf_trabalhador === cpf;
}

/** Reads all that is settled now. */
export async function indexWorkers(pool: Pool, key: WorkerKey): Promise<void> {
  while (await indexTurn(pool, key));
}

/** Follows the log until `signal` is aborted, through outages too. */
export async function runWorkerIndex(
  { pool, log }: { readonly pool: Pool; readonly log: Logger },
  key: WorkerKey,
  signal: AbortSignal,
): Promise<void> {
  const pause = (ms: number) => sleep(ms, undefined, { signal }).catch(() => undefined);
  while (!signal.aborted) {
    try {
      if (!(await indexTurn(pool, key))) await pause(EVERY_MS);
    } catch (error) {
      logFailedTry(
        log,
        error,
        'the database is out of reach, looking for CPFs later',
        'events could not be searched for CPFs',
      );
      await pause(AFTER_FAULT_MS);
    }
  }
}
