/**
 * A batch of history: its events are appended by `append_history`, and every loan among them is held to the rules that `decide`
 * goes by and folded, in one transaction. So the projector, which reads them later, finds these loans written.
 *
 * Where each rule is: JSON and UTF-8 here and in history-lines.ts; keys, catalog, size, time, partner, versions in
 * `append_history`, where the catalog is; the loan's own rules in loan/expected.ts. A batch is judged after it was written, on
 * payloads that the catalog has taken.
 * Crash: nothing of the batch is there, or all of it, and giving it again changes nothing.
 */
import type { Pool, Tx } from '../../db/pool.ts';
import { codeOf } from '../../db/unavailable.ts';
import { type JudgedEvent, judgeStream } from '../../loan/expected.ts';
import { foldLoan, project } from '../loans/loan-projection.ts';
import { BadLine, type HistoryLine } from './history-lines.ts';

export interface BatchOptions {
  /** `YYYY-MM`: the last month whose installments were settled elsewhere. */
  readonly closedUntil: string | null;
  /** When the reading of the file began, by the database's clock. */
  readonly beganAt: Date;
}

type GivenEvent = JudgedEvent & { readonly stream: string; readonly line: number | null };

const REFUSAL = /^CT40[0349]$/;

/** Appends the events of `lines`; how many of them were not there yet. Throws {@link BadLine}. */
export async function appendBatch(pool: Pool, lines: readonly HistoryLine[], options: BatchOptions): Promise<number> {
  const events = lines.map(parse);
  return pool.transaction(async (tx) => {
    const appended = await write(tx, lines, options);
    if (appended === 0) return 0;
    const streams = await readStreams(tx, events as GivenEvent[]);
    judge(streams);
    // When part of the batch was in the log before, some of its workers may be erased: the projector folds the log's own text.
    if (appended < events.length) return appended;
    const loans = [...streams].map(([stream, own]) => foldLoan(stream, own));
    await project(
      tx,
      loans.filter((loan) => loan !== null),
    );
    return appended;
  });
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
async function readStreams(tx: Tx, events: readonly GivenEvent[]): Promise<ReadonlyMap<string, readonly GivenEvent[]>> {
  const begun = events.filter(({ version, stream }, index) => version > 1 && stream !== events[index - 1]?.stream);
  const streams = [...new Set(begun.map(({ stream }) => stream))];
  const before = streams.length === 0 ? [] : await readBefore(tx, streams);
  const first = new Map<string, number>();
  for (const { stream, version } of events) if (!first.has(stream)) first.set(stream, version);
  const earlier = before.filter(({ stream, version }) => version < (first.get(stream) ?? 0));
  return Map.groupBy([...earlier, ...events], (event) => event.stream);
}

/** Holds each event that was given to its loan's rules. Throws {@link BadLine} of the first that does not fit. */
function judge(streams: ReadonlyMap<string, readonly GivenEvent[]>): void {
  let worst: BadLine | null = null;
  for (const [stream, own] of streams) {
    for (const [{ line }, misfit] of judgeStream(stream, own, (event) => event.line !== null)) {
      if (misfit === null || line === null) continue;
      if (worst === null || line < worst.line) worst = new BadLine(line, `${misfit.key}: ${misfit.en}`);
      break;
    }
  }
  if (worst !== null) throw worst;
}

async function readBefore(tx: Tx, streams: readonly string[]): Promise<GivenEvent[]> {
  return tx<GivenEvent[]>`
    select null as line, stream, version, type, data, partner_id as "partnerId", occurred_at as "occurredAt"
    from facts
    where stream = any (${streams as string[]}::uuid[])
    order by stream, version`;
}
