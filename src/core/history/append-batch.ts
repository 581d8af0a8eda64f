/**
 * A batch of history: `append_history` appends its events, and each loan among them is held to the rules that `decide` goes by and
 * folded, in one transaction. So the projector finds these loans written.
 *
 * JSON and UTF-8 are judged here and in history-lines.ts; keys, catalog, size, time, partner, versions in `append_history`; the
 * loan's rules in loan/expected.ts, after the batch was written. Crash: all of the batch is there, or nothing; giving it again
 * changes nothing.
 */
import { addDays, dayOf } from '../../contract/calendar.ts';
import type { Pool, Tx } from '../../db/pool.ts';
import { codeOf } from '../../db/unavailable.ts';
import { type JudgedEvent, judgeStream } from '../../loan/expected.ts';
import { readStreams } from '../../log/read.ts';
import { foldLoan, project } from '../loans/loan-projection.ts';
import { BadLine, type HistoryLine } from './history-lines.ts';

export interface BatchOptions {
  /** `YYYY-MM`: the last month whose installments were settled elsewhere. */
  readonly closedUntil: string | null;
  /** When the reading of the file began, by the database's clock. */
  readonly beganAt: Date;
}

type GivenEvent = JudgedEvent & { readonly stream: string; readonly line: number | null };

const CONTRACTS: ReadonlySet<string> = new Set(['emprestimo.contratado', 'emprestimo.solicitado']);
const REFUSAL = /^CT40[0349]$/;

/** What is in, though it may be crooked. */
export interface LineWarning {
  readonly line: number;
  readonly warning: string;
}

export interface Appended {
  /** How many of the events were not there yet. */
  readonly appended: number;
  /** Of events that were not there yet, in the order of the lines. */
  readonly warnings: readonly LineWarning[];
}

/** Appends the events of `lines`. Throws {@link BadLine}. */
export function appendBatch(pool: Pool, lines: readonly HistoryLine[], options: BatchOptions): Promise<Appended> {
  return pool.transaction(async (tx) => {
    const { appended, warnings, streams } = await appendLines(tx, lines, options);
    // When part of the batch was in the log before, some of its workers may be erased: the projector folds the log's own text.
    if (appended === lines.length) {
      const loans = [...streams].map(([stream, own]) => foldLoan(stream, own));
      await project(
        tx,
        loans.filter((loan) => loan !== null),
      );
    }
    return { appended, warnings };
  });
}

/** The same without the projection, in the caller's transaction; with the streams of what was appended. */
export async function appendLines(tx: Tx, lines: readonly HistoryLine[], options: BatchOptions) {
  const events = lines.map(parse);
  const appended = await write(tx, lines, options);
  const streams = new Map(appended === 0 ? [] : await withEarlier(tx, events as GivenEvent[]));
  if (appended > 0) for (const [stream, own] of await readLate(tx, streams, options)) streams.set(stream, own);
  judge(streams);
  const warnings = [...warnOfDays(streams, options.beganAt), ...(await warnOfNumbers(tx, streams))];
  return { appended, streams, warnings: warnings.toSorted((one, other) => one.line - other.line) };
}

/** No payload comes near it. PostgreSQL's parser runs out of stack some thousands deep, and names no line then. */
const MAX_DEPTH = 64;

function isNestedDeeper(value: unknown): boolean {
  let level = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) return true;
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []));
  }
  return false;
}

/** What is no event is refused by `append_history`, which names the key. */
function parse({ number, text }: HistoryLine): unknown {
  try {
    const event = JSON.parse(text) as Record<string, unknown> | null;
    if (isNestedDeeper(event)) throw new BadLine(number, `is nested more than ${MAX_DEPTH} deep`);
    const [stream, partnerId] = [String(event?.['stream']).toLowerCase(), String(event?.['partner_id']).toLowerCase()];
    const occurredAt = new Date(String(event?.['occurred_at']));
    return { ...event, stream, partnerId, occurredAt, version: Number(event?.['version']), line: number };
  } catch (error) {
    if (error instanceof BadLine) throw error;
    // The engine's sentence quotes the line.
    const at = /position (\d+)/.exec((error as Error).message)?.[1];
    throw new BadLine(number, `is not JSON${at === undefined ? '' : `, from character ${Number(at) + 1} on`}`);
  }
}

async function write(tx: Tx, lines: readonly HistoryLine[], { closedUntil, beganAt }: BatchOptions): Promise<number> {
  const text = lines.map((line) => line.text).join('\n');
  try {
    const [{ appended }] = await tx<[{ appended: number }]>`
      select appended
      from append_history(
        array(select line::json from string_to_table(${text}, e'\n') with ordinality as l (line, n) order by n),
        ${closedUntil}, ${beganAt})`;
    return appended;
  } catch (error) {
    const { message, detail, hint } = error as { message: string; detail?: string; hint?: string };
    const line = lines[Number(detail) - 1];
    if (!REFUSAL.test(codeOf(error) ?? '') || line === undefined) throw error;
    throw new BadLine(line.number, hint === undefined ? message : `${message} (${hint})`);
  }
}

/** The streams of these events, each from its first event to the last that is given. */
async function withEarlier(tx: Tx, events: readonly GivenEvent[]): Promise<ReadonlyMap<string, readonly GivenEvent[]>> {
  const begun = events.filter(({ version, stream }, index) => version > 1 && stream !== events[index - 1]?.stream);
  const streams = [...new Set(begun.map(({ stream }) => stream))];
  const before = streams.length === 0 ? [] : await readStreams(tx, streams);
  const first = new Map<string, number>();
  for (const { stream, version } of events) if (!first.has(stream)) first.set(stream, version);
  const earlier = before.filter(({ stream, version }) => version < (first.get(stream) ?? 0));
  return Map.groupBy(
    [...earlier.map((event) => Object.assign(event, { line: null })), ...events],
    (event) => event.stream,
  );
}

/** Those of `streams` with history behind an append, each whole; what was appended bears the last given event's line. */
async function readLate(
  tx: Tx,
  streams: ReadonlyMap<string, readonly GivenEvent[]>,
  { beganAt }: BatchOptions,
): Promise<ReadonlyMap<string, readonly GivenEvent[]>> {
  const late = await tx<{ stream: string; lowered: number }[]>`
    select stream, 1 - min(version) as lowered from events
    where stream = any (${[...streams.keys()]}::uuid[]) and version < 1 and uuid_extract_timestamp(id) >= ${beganAt}
    group by stream`;
  if (late.length === 0) return new Map();
  const lineOf = new Map<string, number | null>();
  for (const { stream, lowered } of late)
    for (const { version, line } of streams.get(stream) ?? []) {
      lineOf.set(`${stream} ${version - lowered}`, line);
      lineOf.set(stream, line);
    }
  const lateStreams = late.map(({ stream }) => stream);
  const lineAt = (stream: string, version: number) => lineOf.get(version < 1 ? `${stream} ${version}` : stream) ?? null;
  const events = (await readStreams(tx, lateStreams)).map((event) =>
    Object.assign(event, { line: lineAt(event.stream, event.version) }),
  );
  return Map.groupBy(events, ({ stream }) => stream);
}

/** Holds each event that was given to its loan's rules. Throws {@link BadLine} of the first that does not fit. */
function judge(streams: ReadonlyMap<string, readonly GivenEvent[]>): void {
  let worst: BadLine | null = null;
  for (const [stream, own] of streams) {
    const isLate = (own[0]?.version ?? 1) < 1;
    for (const [{ line, version }, mismatch] of judgeStream(stream, own, (event) => event.line !== null)) {
      if (mismatch === null || line === null) continue;
      const which = isLate && version > 0 ? `version: ${version}, which was appended, does not fit behind this: ` : '';
      if (worst === null || line < worst.line) worst = new BadLine(line, `${which}${mismatch.key}: ${mismatch.en}`);
      break;
    }
  }
  if (worst !== null) throw worst;
}

const TRANSFER = 'desembolso.liquidado';

/** Transfers before their contract, or behind the day that tells of them. Throws {@link BadLine} of one that lies ahead. */
function warnOfDays(streams: ReadonlyMap<string, readonly GivenEvent[]>, beganAt: Date): LineWarning[] {
  const warnings: LineWarning[] = [];
  // As append_event: a core may count its days in UTC.
  const last = addDays(dayOf(beganAt), 1);
  for (const own of streams.values()) {
    const [first] = own;
    for (const { line, type, data, occurredAt } of own) {
      if (type !== TRANSFER || line === null || first === undefined) continue;
      const { data_liberacao: day } = data as { data_liberacao: string };
      if (day > last) throw new BadLine(line, 'data.data_liberacao: lies ahead');
      const isEarly = CONTRACTS.has(first.type) && day < dayOf(first.occurredAt);
      if (isEarly) warnings.push({ line, warning: "data.data_liberacao: lies before the loan's contract" });
      else if (day > addDays(dayOf(occurredAt), 1))
        warnings.push({ line, warning: 'data.data_liberacao: lies behind occurred_at' });
    }
  }
  return warnings;
}

/** Contracts whose number another loan of the partner bears: that one keeps it. */
async function warnOfNumbers(tx: Tx, streams: ReadonlyMap<string, readonly GivenEvent[]>): Promise<LineWarning[]> {
  const given = [...streams.values()].flat().filter(({ line, type }) => line !== null && CONTRACTS.has(type));
  if (given.length === 0) return [];
  const rows = await tx<{ line: number; bearer: string }[]>`
    select e.line, n.loan_id as bearer
    from unnest(${given.map(({ line }) => line)}::int[], ${given.map(({ partnerId }) => partnerId)}::uuid[],
                ${given.map(({ data }) => (data as { numero: string }).numero)}::text[],
                ${given.map(({ stream }) => stream)}::uuid[]) as e (line, partner_id, number, loan_id)
    join numbered_loans n on n.partner_id = e.partner_id and n.number = e.number and n.loan_id <> e.loan_id`;
  return rows.map(({ line, bearer }) => ({
    line,
    warning: `data.numero: the loan ${bearer} bears this number already, and keeps it`,
  }));
}
