/**
 * Margin queries, database first (contract, "Rules" 1 to 3): a recent answer is reused, else the registry is asked.
 *
 * Invariant: a query that reached the registry leaves its answer, its event and its end in one transaction, and nothing
 * else emits an event. Requests about one worker and employer that overlap reach the registry once (margin-flight.ts).
 * What `skipCache` forces: an answer that the registry gave after the request came; requests that overlap may share it.
 * Of those that share one, the one that asked says `registry` and is what the event tells of; the others reached nobody
 * and say `cache`. So there are as many answers `registry` as events margem.concluida.
 * The registry is asked outside of any transaction, within a deadline that is shorter than the lease.
 * Crash between the registry's answer and its record: the answer is lost, and asked again when the lease has run out;
 * no event told of it. Alternative: a row written before each call would tell that a charge was made, not what was
 * answered, and the partner has to be answered anyway.
 */
import type { Fact } from '../../contract/events.ts';
import type { MarginOrigin } from '../../contract/resources/margin-resource.ts';
import type { Result } from '../../contract/refusals.ts';
import { toReais } from '../../contract/values.ts';
import type { Pool, Tx } from '../../db/pool.ts';
import { isUnavailable } from '../../db/unavailable.ts';
import type { Logger } from '../../log-lines.ts';
import { append, type Provenance } from '../../log/append.ts';
import { readClock } from '../../log/read.ts';
import { type Called, RegistryGate } from '../../registry/gate.ts';
import type { MarginAnswer, MarginRegistry } from '../../registry/port.ts';
import {
  arrive,
  FlightWatch,
  land,
  type Landing,
  look,
  type MarginFailure,
  type MarginKey,
  type MarginQuery,
  takeOff,
} from './margin-flight.ts';

const CALL_TIMEOUT_MS = 10_000;
/** The call, and time to record its answer in. */
const LEASE_MS = 15_000;
/** A lost flight and the one after it. */
const PATIENCE_MS = 2 * LEASE_MS;
const PLACES = 32;
const MAX_CENTAVOS = 999_999_999_999;
const MAX_ERROR_LENGTH = 500;
const SILENT = 'o registry não respondeu';

export interface MarginDeps {
  readonly pool: Pool;
  readonly registry: MarginRegistry;
  readonly log: Logger;
  /** How long an answer is reused, by the database's clock; 0 reuses none. */
  readonly reuseHours: number;
  readonly callTimeoutMs?: number;
  readonly leaseMs?: number;
  /** Calls to the registry at once. */
  readonly slots?: number;
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
   * What can be pledged of the worker's pay. `provenance` names who asks: a partner's request, or the service itself
   * (its own actor, no request), whose query tells the partner through the event alone. Throws `DatabaseUnavailable`.
   */
  query(provenance: Provenance, asking: MarginAsking): Promise<MarginFound>;
}

/** Makes the one desk of a process through which margins are asked. */
export function marginQueries(deps: MarginDeps): MarginQueries {
  const { pool, reuseHours, leaseMs = LEASE_MS, slots = PLACES } = deps;
  const gate = new RegistryGate(slots);
  const watch = new FlightWatch(pool);

  async function follow(key: MarginKey): Promise<Landing | null> {
    const seen = await look(pool, key);
    if (seen.landing !== null) return seen.landing;
    return seen.isLost ? null : watch.landingOf(key, seen.flight);
  }

  return {
    async query(provenance, { workerCpf, employerCnpj, skipCache = false }) {
      const key = { partnerId: provenance.partnerId, workerCpf, employerCnpj };
      const { recent, landed } = await arrive(pool, key, reuseHours);
      if (recent !== null && !skipCache) return { ok: { query: recent, origin: 'cache' } };
      const patientUntil = performance.now() + PATIENCE_MS;
      do {
        const flight = await takeOff(pool, key, landed, leaseMs);
        const flown = flight === null ? null : await fly(deps, gate, provenance, key, flight);
        const landing = flown ?? (await follow(key));
        if (landing !== null) return foundOf(landing, flight);
      } while (performance.now() < patientUntil);
      return { refused: { kind: 'marginFailed', error: SILENT } };
    },
  };
}

/** What a request that flew `flight` is told of a landing: perhaps its own, which a query bears the id of. */
function foundOf(landing: Landing, flight: string | null): MarginFound {
  if ('query' in landing) {
    return { ok: { query: landing.query, origin: landing.query.id === flight ? 'registry' : 'cache' } };
  }
  const { kind, error } = landing.failure;
  return { refused: { kind: kind === 'negocial' ? 'marginRefused' : 'marginFailed', error } };
}

/** Asks the registry and records what came of it; null when the lease was lost to a later flight meanwhile. */
async function fly(
  { pool, registry, log, callTimeoutMs = CALL_TIMEOUT_MS }: MarginDeps,
  gate: RegistryGate,
  provenance: Provenance,
  key: MarginKey,
  flight: string,
): Promise<Landing | null> {
  const question = { ...key, queryId: flight };
  const called = await gate.call((signal) => registry.queryMargin(question, signal), callTimeoutMs);
  const reached = !('unasked' in called);
  const judged = judge(called);
  if ('failure' in judged && judged.failure.kind === 'upstream') {
    const error = 'unanswered' in called && called.unanswered instanceof Error ? called.unanswered.name : undefined;
    log.warn({ consulta_margem_id: flight, reached, error }, 'a margin query failed upstream');
  }
  const end = { key, flight, judged, reached };
  const landing = await pool
    .transaction((tx) => recordEnd(tx, provenance, end))
    // Perhaps it was recorded: then the flight has landed, this lands nothing, and whoever looks finds the answer.
    .catch((error: unknown) => {
      if (!isUnavailable(error)) throw error;
      return pool.transaction((tx) => recordEnd(tx, provenance, end));
    });
  if (landing === null) log.warn({ consulta_margem_id: flight }, 'a margin query had ended already');
  return landing;
}

interface FlightEnd {
  readonly key: MarginKey;
  readonly flight: string;
  readonly judged: Judged;
  /** False: the registry was never asked, so there is nothing to tell the partner's webhooks. */
  readonly reached: boolean;
}

/** The end of a flight in one transaction: the lease, the answer, the event. Null when it is not under way any more. */
async function recordEnd(
  tx: Tx,
  provenance: Provenance,
  { key, flight, judged, reached }: FlightEnd,
): Promise<Landing | null> {
  if (!(await land(tx, key, flight, 'failure' in judged ? judged.failure : null))) return null;
  const now = await readClock(tx);
  const landing: Landing = 'failure' in judged ? judged : { query: { id: flight, ...judged, queriedAt: now } };
  if ('query' in landing) await keepQuery(tx, key, landing.query);
  if (!reached) return landing;
  const facts = [factOf(key, landing)];
  await append(tx, { ...provenance, stream: flight, expectedVersion: 0, facts, occurredAt: now });
  return landing;
}

async function keepQuery(tx: Tx, { partnerId, workerCpf, employerCnpj }: MarginKey, query: MarginQuery): Promise<void> {
  const { id, earningsCentavos, marginCentavos, queriedAt } = query;
  await tx`
    insert into margin_queries (id, partner_id, worker_cpf, employer_cnpj, earnings_centavos, margin_centavos, queried_at)
    values (${id}, ${partnerId}, ${workerCpf}, ${employerCnpj}, ${earningsCentavos}, ${marginCentavos}, ${queriedAt})`;
}

type Judged =
  | { readonly earningsCentavos: number; readonly marginCentavos: number }
  | { readonly failure: MarginFailure };

/** What a call came to. An answer that cannot be one (no amount, or one that the wire cannot carry) is a fault over there. */
function judge(called: Called<MarginAnswer>): Judged {
  if ('unasked' in called) return { failure: { kind: 'upstream', error: 'o registry está sobrecarregado' } };
  if ('unanswered' in called) return { failure: { kind: 'upstream', error: SILENT } };
  const { answer } = called;
  if (answer.outcome === 'refused') return { failure: { kind: 'negocial', error: textOf(answer.error) } };
  if (answer.outcome === 'unavailable') return { failure: { kind: 'upstream', error: textOf(answer.error) } };
  const { earningsCentavos, marginCentavos } = answer;
  const canBe = earningsCentavos >= 0 && isAmount(earningsCentavos) && isAmount(marginCentavos);
  if (canBe) return { earningsCentavos, marginCentavos };
  return { failure: { kind: 'upstream', error: 'o registry deu uma resposta inválida' } };
}

function isAmount(centavos: number): boolean {
  return Number.isInteger(centavos) && Math.abs(centavos) <= MAX_CENTAVOS;
}

/** A text from outside, fit for the database and for the wire. */
function textOf(error: string): string {
  const text = error
    .toWellFormed()
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trim();
  return text === '' ? 'sem explicação do registry' : text.slice(0, MAX_ERROR_LENGTH).toWellFormed();
}

function factOf(key: MarginKey, landing: Landing): Fact {
  const worker = { cpf_trabalhador: key.workerCpf, cnpj_empregador: key.employerCnpj };
  if ('failure' in landing) {
    const { kind, error } = landing.failure;
    return { type: 'margem.falhou', data: { ...worker, tipo_erro: kind, erro: error } };
  }
  const { id, earningsCentavos, marginCentavos } = landing.query;
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

/**
 * `margem_percentual`: the share rounded to four decimals, exactly, halves away from zero; null when there are no
 * earnings, which are never negative.
 */
export function marginShare(marginCentavos: number, earningsCentavos: number): number | null {
  if (earningsCentavos === 0) return null;
  const [margin, earnings] = [BigInt(marginCentavos), BigInt(earningsCentavos)];
  // BigInt divides towards zero.
  const half = margin < 0n ? -earnings : earnings;
  return Number((margin * 20_000n + half) / (earnings * 2n)) / 10_000;
}
