/**
 * Margin queries: reuse a recent answer from the database, else ask the registry.
 *
 * Invariant: the answer of the registry, its event and the end of the query commit in one transaction. Overlapping requests for
 * a worker and employer ask the registry once (margin-flight.ts). The one that asked answers `registry`, the others `cache`, so
 * there are as many answers `registry` as events margem.concluida. `skipCache` demands an answer newer than the request;
 * overlapping requests may share it. The call is outside of transactions, with a deadline shorter than the lease.
 *
 * Crash between answer and record: the answer is lost, no event reports it, and the registry is asked again after the lease.
 * Alternative: a row before each call would record the registry's charge, but not its answer.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fact } from '../../contract/events.ts';
import type { MarginOrigin } from '../../contract/resources/margin-resource.ts';
import { type Result, taken } from '../../contract/refusals.ts';
import { toReais } from '../../contract/values.ts';
import type { Pool, Tx } from '../../db/pool.ts';
import { isUnavailable } from '../../db/unavailable.ts';
import type { Logger } from '../../log-lines.ts';
import { append, type Provenance } from '../../log/append.ts';
import { isStream, newStream, readClock } from '../../log/read.ts';
import { type MarginAnswer, type MarginRegistry, NotAsked, RegistryFailure } from '../../registry/port.ts';
import {
  arrive,
  land,
  type MarginResult,
  look,
  type MarginFailure,
  type MarginKey,
  type MarginQuery,
  takeOff,
} from './margin-flight.ts';

const SILENT = 'o registry não respondeu';
/** Between two looks at another's flight. */
const FIRST_PAUSE_MS = 15;
const LONGEST_PAUSE_MS = 250;

export interface MarginDeps {
  readonly pool: Pool;
  readonly registry: MarginRegistry;
  readonly log: Logger;
  /** How long an answer is reused, by the database's clock; 0 reuses none. */
  readonly reuseHours: number;
  /** A call to the registry, and time to record its answer in. */
  readonly leaseMs: number;
}

interface MarginAsking {
  readonly workerCpf: string;
  readonly employerCnpj: string;
  /** True forces an answer that the registry gives after now. */
  readonly skipCache?: boolean;
}

export type MarginFound = Result<
  { readonly query: MarginQuery; readonly origin: MarginOrigin },
  'marginRefused' | 'marginFailed'
>;

export interface MarginQueries {
  /**
   * What can be pledged of the worker's pay. `provenance`: a partner's request, or the service itself (no request), which tells the
   * partner through the event alone. Throws `DatabaseUnavailable`.
   */
  query(provenance: Provenance, asking: MarginAsking): Promise<MarginFound>;
}

export function marginQueries(deps: MarginDeps): MarginQueries {
  const { pool, reuseHours, leaseMs } = deps;
  return {
    async query(provenance, { workerCpf, employerCnpj, skipCache = false }) {
      const key = { partnerId: provenance.partnerId, workerCpf, employerCnpj };
      const { recent, landed } = await arrive(pool, key, reuseHours);
      if (recent !== null && !skipCache) return { ok: { query: recent, origin: 'cache' } };
      // A lost flight and the one after it.
      const patientUntil = performance.now() + 2 * leaseMs;
      for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 1.5, LONGEST_PAUSE_MS)) {
        const flight = await takeOff(pool, key, landed, leaseMs);
        const flown = flight === null ? null : await fly(deps, provenance, key, flight);
        const result = flown ?? (await look(pool, key));
        if (result !== null) return foundOf(result, flight);
        if (performance.now() >= patientUntil) return { refused: { kind: 'marginFailed', error: SILENT } };
        await sleep(pauseMs);
      }
    },
  };
}

/** What a request that flew `flight` is told of a landing: perhaps its own, which a query bears the id of. */
function foundOf(result: MarginResult, flight: string | null): MarginFound {
  if ('query' in result) {
    return { ok: { query: result.query, origin: result.query.id === flight ? 'registry' : 'cache' } };
  }
  const { kind, error } = result.failure;
  return { refused: { kind: kind === 'negocial' ? 'marginRefused' : 'marginFailed', error } };
}

/** Asks the registry and records what came of it; null when the lease was lost to a later flight meanwhile. */
async function fly(
  { pool, registry, log }: MarginDeps,
  provenance: Provenance,
  key: MarginKey,
  flight: string,
): Promise<MarginResult | null> {
  const question = { ...key, queryId: flight, requestId: provenance.requestId };
  let reached = true;
  const judged = await registry.queryMargin(question, new AbortController().signal).then(judge, (error: unknown) => {
    const reason = error instanceof RegistryFailure ? error.message : (error as Error).name;
    log.warn({ consulta_margem_id: flight, reason }, 'a margin query failed upstream');
    reached = !(error instanceof NotAsked);
    return { failure: { kind: 'upstream', error: upstreamOf(error) } as const };
  });
  /** The end of a flight in one transaction: the lease, the answer, the event. Null when it is not under way any more. */
  const record = async (tx: Tx): Promise<MarginResult | null> => {
    const isOurs = await land(tx, key, flight, 'failure' in judged ? judged.failure : null);
    if (!isOurs) return null;
    // Where the registry was never asked, there is nothing to tell the partner's webhooks.
    if (!reached && 'failure' in judged) return judged;
    return keep(tx, provenance, { key, id: flight, reported: judged, now: await readClock(tx) });
  };
  const result = await pool
    .transaction(record)
    // The lost commit may have been made. Then the flight has landed, this second try changes nothing, and readers find the answer.
    .catch((error: unknown) => {
      if (!isUnavailable(error)) throw error;
      return pool.transaction(record);
    });
  if (result === null) log.warn({ consulta_margem_id: flight }, 'a margin query had ended already');
  return result;
}

interface Kept {
  readonly key: MarginKey;
  readonly id: string;
  readonly reported: ReportedMargin;
  readonly now: Date;
}

/** Keeps a query, if it was answered, and its event. */
async function keep(tx: Tx, provenance: Provenance, { key, id, reported, now }: Kept): Promise<MarginResult> {
  const result: MarginResult = 'failure' in reported ? reported : { query: { id, ...reported, queriedAt: now } };
  const facts = [factOf(key, result)];
  // It goes first: it says that a partner is unknown.
  await append(tx, { ...provenance, stream: id, expectedVersion: 0, facts, occurredAt: now });
  if ('query' in result) {
    const { partnerId, workerCpf, employerCnpj } = key;
    const { earningsCentavos, marginCentavos } = result.query;
    await tx`
      insert into margin_queries (id, partner_id, worker_cpf, employer_cnpj, earnings_centavos, margin_centavos, queried_at)
      values (${id}, ${partnerId}, ${workerCpf}, ${employerCnpj}, ${earningsCentavos}, ${marginCentavos}, ${now})`;
  }
  return result;
}

function judge(answer: MarginAnswer): ReportedMargin {
  if (answer.outcome === 'refused') return { failure: { kind: 'negocial', error: answer.error } };
  const { earningsCentavos, marginCentavos } = answer;
  return { earningsCentavos, marginCentavos };
}

function upstreamOf(error: unknown): string {
  if (error instanceof NotAsked)
    return error.why === 'busy' ? 'o registry está sobrecarregado' : 'o registry está fora do ar';
  return error instanceof RegistryFailure ? error.reported : SILENT;
}

function factOf(key: MarginKey, result: MarginResult): Fact {
  const worker = { cpf_trabalhador: key.workerCpf, cnpj_empregador: key.employerCnpj };
  if ('failure' in result) {
    const { kind, error } = result.failure;
    return { type: 'margem.falhou', data: { ...worker, tipo_erro: kind, erro: error } };
  }
  const { id, earningsCentavos, marginCentavos } = result.query;
  return {
    type: 'margem.concluida',
    data: {
      ...worker,
      consulta_margem_id: id,
      salario_bruto: toReais(earningsCentavos),
      margem_disponivel: toReais(marginCentavos),
      margem_percentual: marginShare(marginCentavos, earningsCentavos),
    },
  };
}

/** The share rounded to four decimals, exactly, halves away from zero; null without earnings, which are never negative. */
export function marginShare(marginCentavos: number, earningsCentavos: number): number | null {
  if (earningsCentavos === 0) return null;
  const [margin, earnings] = [BigInt(marginCentavos), BigInt(earningsCentavos)];
  // BigInt divides towards zero.
  const half = margin < 0n ? -earnings : earnings;
  return Number((margin * 20_000n + half) / (earnings * 2n)) / 10_000;
}

/** What the registry answered: the amounts, or why there are none. */
export type ReportedMargin =
  | Pick<MarginQuery, 'earningsCentavos' | 'marginCentavos'>
  | { readonly failure: MarginFailure };

/** Keeps a query that the lender's core made of the registry itself, with its event, as `ownId` if given. Returns the query's id. */
export async function reportMargin(
  tx: Tx,
  provenance: Provenance,
  worker: Omit<MarginKey, 'partnerId'>,
  reported: ReportedMargin,
  ownId: string | undefined,
): Promise<Result<string, 'taken'>> {
  const key = { ...worker, partnerId: provenance.partnerId };
  const { id: newId, now } = await newStream(tx);
  if (ownId !== undefined && (await isStream(tx, ownId))) return taken('consulta_margem_id', ownId);
  const id = ownId ?? newId;
  await keep(tx, provenance, { key, id, reported, now });
  return { ok: id };
}
