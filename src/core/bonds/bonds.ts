/**
 * The nightly sync: the registry's bond records become trabalhador.desligado and trabalhador.vinculo_novo, each once.
 *
 * Invariant: a record is stored when first seen, under its reference. Its mark `detected_at` commits with its event
 * (bond-detection.ts), so windows may overlap and syncs may run in parallel. A record without an event stays open for later
 * syncs: an end of bond waits for the issuance, a rehire for the loan's closing, a record of an unknown loan for that loan
 * (keep-bonds.ts). An invalid record is counted and logged. Ends are applied before rehires.
 *
 * Crash: the window moves only after all its records are stored.
 * Alternative: storing only the last sync's time would lose records that are backdated or committed late.
 */
import { FIRST_ID } from '../../db/first-id.ts';
import { orLogged } from '../../db/outage-log.ts';
import type { Pool } from '../../db/pool.ts';
import type { Logger } from '../../log-lines.ts';
import { STATUSES_OF_END_OF_BOND, STATUSES_OF_REHIRE } from '../../loan/decide-bonds.ts';
import type { BondQuery, BondRegistry, EndedBond, NewBond } from '../../registry/bonds-port.ts';
import { detect, type OpenRecord } from './bond-detection.ts';
import { countUnknown, keepBonds, placeKnown } from './keep-bonds.ts';

/** How much of the last window is asked for again. */
const OVERLAP_MS = 48 * 60 * 60 * 1_000;
const REGISTRY_TIMEOUT_MS = 5 * 60 * 1_000;
const PAGE = 200;
/** Of refused records, in a line of the log. */
const SHOWN = 10;

export interface SyncDeps {
  readonly pool: Pool;
  readonly registry: BondRegistry;
  readonly log: Logger;
}

export interface SyncScope {
  /** Null: all partners. */
  readonly partnerId: string | null;
  readonly actor: string;
  readonly requestId: string | null;
}

/** How many records were newly detected; `failed` ones are logged and looked at again by the next sync. */
export interface SyncCounts {
  readonly ended: number;
  readonly new: number;
  readonly failed: number;
  /** Records that still wait for an unknown loan, at the end. */
  readonly unknown: number;
  /** Records that this sync read and refused; they are logged. */
  readonly refused: number;
}

/** Runs the sync once; `onProgress` gets the counts so far. Throws if registry or database is away; the next sync continues. */
export async function syncBonds(
  deps: SyncDeps,
  scope: SyncScope,
  onProgress: (counts: SyncCounts) => void = () => undefined,
): Promise<SyncCounts> {
  const refused = await keepWindow(deps, scope);
  const unknown = await countUnknown(deps.pool, scope.partnerId);
  const counts = { ended: 0, new: 0, failed: 0, unknown, refused };
  for (const kind of ['ended', 'new'] as const) {
    for await (const record of openRecords(deps.pool, kind, scope.partnerId)) {
      const ids = { recordId: record.id, loanId: record.loanId };
      const work = () => detect(deps.pool, record, scope);
      // One record that cannot be recorded must not stand in the way of the others.
      const isDetected = await orLogged(deps.log, ids, 'could not record a bond; left for later', work);
      if (isDetected === true) counts[kind] += 1;
      if (isDetected === null) counts.failed += 1;
      onProgress(counts);
    }
  }
  return counts;
}

/** Keeps what the registry learned since this scope's last sync, asking outside transactions. Returns how many were refused. */
async function keepWindow({ pool, registry, log }: SyncDeps, { partnerId }: SyncScope): Promise<number> {
  const name = partnerId === null ? 'bonds' : `bonds:${partnerId}`;
  // One millisecond more than now: what the registry learned in this very millisecond belongs to this window.
  const [window] = await pool.run(
    (sql) => sql<[{ until: Date; last: Date | null }]>`
      select date_trunc('milliseconds', clock_timestamp()) + interval '1 millisecond' as until,
             (select until from sync_windows where name = ${name}) as last`,
  );
  const { until, last } = window;
  const from = new Date(last === null ? 0 : last.getTime() - OVERLAP_MS);
  const misshapen: string[] = [];
  const query: BondQuery = { partnerId, from, until, onMisshapen: (rule) => void misshapen.push(rule) };
  const signal = AbortSignal.timeout(REGISTRY_TIMEOUT_MS);
  let refused = 0;
  const refuse = (reported: readonly unknown[], sentence: string) => {
    refused += reported.length;
    if (reported.length > 0) log.error({ count: reported.length, first: reported.slice(0, SHOWN) }, sentence);
  };
  const keepPage = async (kind: 'ended' | 'new', page: readonly (EndedBond | NewBond)[]) => {
    refuse(
      await keepBonds(pool, kind, page),
      'the registry told records of bonds that do not go with their loans; they were not kept',
    );
    refuse(misshapen.splice(0), 'the registry told records of bonds that do not fit; they were not kept');
  };
  for await (const page of registry.endedBonds(query, signal)) await keepPage('ended', page);
  for await (const page of registry.newBonds(query, signal)) await keepPage('new', page);
  refuse(
    await placeKnown(pool, partnerId),
    'records of bonds waited for loans that do not go with them; they were dropped',
  );
  await pool.run(
    (sql) => sql`
      insert into sync_windows (name, until) values (${name}, ${until})
      on conflict (name) do update set until = greatest(sync_windows.until, excluded.until)`,
  );
  return refused;
}

/** Open records whose loan can take them now, in the order they were first seen. The loan itself has the last word. */
async function* openRecords(pool: Pool, kind: 'ended' | 'new', partnerId: string | null): AsyncGenerator<OpenRecord> {
  const statuses = [...(kind === 'ended' ? STATUSES_OF_END_OF_BOND : STATUSES_OF_REHIRE)];
  let after = FIRST_ID;
  for (;;) {
    const page = await pool.run(
      (sql) => sql<OpenRecord[]>`
        select r.id, r.kind, r.partner_id as "partnerId", r.loan_id as "loanId", r.data
        from bond_records r
        join loans l on l.id = r.loan_id
        where r.detected_at is null and r.kind = ${kind} and r.id > ${after} and (l.status = any (${statuses}) or l.away_digest is not null)
          and (${partnerId}::uuid is null or r.partner_id = ${partnerId})
        order by r.id
        limit ${PAGE}`,
    );
    yield* page;
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.id;
  }
}
