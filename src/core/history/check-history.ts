/**
 * The check of a history's file: the import's own statements and rules over the whole file, in one transaction that is rolled back.
 *
 * Each fault takes its loan out of the batch, which is tried again; the loan's later lines are held to keys and catalog alone.
 * While it runs, feed and seals wait for its transaction, as for any that is open.
 */
import type { Pool, Tx } from '../../db/pool.ts';
import { readClock } from '../../log/read.ts';
import { appendLines, type BatchOptions } from './append-batch.ts';
import { BadLine, batchesOf, type HistoryLine, readHistoryLines, streamOf } from './history-lines.ts';

/** The lines of a faulty batch are tried again, this many at a time: each fault costs one such try. */
const PIECE = 100;
const BATCH = 5 * PIECE;

export interface FoundInLine {
  readonly line: number;
  readonly kind: 'fault' | 'warning';
  /** The key and the rule; nothing of the line is repeated. */
  readonly what: string;
}

export interface Checked {
  readonly lines: number;
  readonly faults: number;
  readonly warnings: number;
}

/** Checks the file, and tells what is found in the order of the lines. Nothing is appended. */
export async function checkHistory(
  pool: Pool,
  bytes: AsyncIterable<Buffer>,
  closedUntil: string | null,
  report: (found: FoundInLine) => void,
): Promise<Checked> {
  const counts = { lines: 0, fault: 0, warning: 0 };
  const work = async (tx: Tx) => {
    // No statistics tell of rows that nobody has committed: without this each batch reads those before it from end to end.
    await tx`select set_config(name, 'off', true) from unnest('{enable_seqscan,enable_hashjoin,enable_mergejoin}'::text[]) name`;
    const check = checking(tx, { closedUntil, beganAt: await readClock(tx) });
    for await (const batch of batchesOf(readHistoryLines(bytes), BATCH)) {
      counts.lines += batch.length;
      for (const found of await check(batch)) {
        counts[found.kind] += 1;
        report(found);
      }
    }
    return { refused: 'it was a check' } as const;
  };
  await pool.transaction(work);
  return { lines: counts.lines, faults: counts.fault, warnings: counts.warning };
}

/** The checker of batches, in their order. */
function checking(tx: Tx, options: BatchOptions) {
  const broken = new Set<string>();

  /** Null: everything fits, and `found` has the warnings. */
  async function tryLines(lines: readonly HistoryLine[], found: FoundInLine[]): Promise<BadLine | null> {
    if (lines.length === 0) return null;
    await tx`savepoint check_lines`;
    try {
      const { warnings } = await appendLines(tx, lines, options);
      found.push(...warnings.map(({ line, warning }) => ({ line, kind: 'warning' as const, what: warning })));
      await tx`release check_lines`;
      return null;
    } catch (error) {
      if (!(error instanceof BadLine)) throw error;
      await tx`rollback to check_lines`;
      return error;
    }
  }

  /** Returns the lines behind a fault of their loan. */
  async function judge(piece: readonly HistoryLine[], found: FoundInLine[]): Promise<HistoryLine[]> {
    const behind = piece.filter((line) => broken.has(streamOf(line)));
    let rest = piece.filter((line) => !broken.has(streamOf(line)));
    for (let fault = await tryLines(rest, found); fault !== null; fault = await tryLines(rest, found)) {
      found.push(faultOf(fault));
      const { line: number } = fault;
      const bad = rest.find((line) => line.number === number);
      const stream = bad === undefined ? '' : streamOf(bad);
      if (stream !== '') broken.add(stream);
      const isOfIt = (line: HistoryLine) => line.number === number || (stream !== '' && streamOf(line) === stream);
      behind.push(...rest.filter((line) => isOfIt(line) && line.number > number));
      // Without its end what comes behind an append fits even less.
      const isWhole = fault.message.includes('which was appended');
      rest = rest.filter((line) => !isOfIt(line) || (line.number < number && !isWhole));
    }
    return behind;
  }

  return async (batch: readonly (HistoryLine | BadLine)[]): Promise<FoundInLine[]> => {
    const found = batch.filter((line) => line instanceof BadLine).map(faultOf);
    const lines = batch.flatMap((line) => (line instanceof BadLine ? [] : [line]));
    const sound = lines.filter((line) => !broken.has(streamOf(line)));
    const alone = lines.filter((line) => broken.has(streamOf(line)));
    if ((await tryLines(sound, found)) !== null)
      for (let at = 0; at < sound.length; at += PIECE) alone.push(...(await judge(sound.slice(at, at + PIECE), found)));
    for (const line of alone) {
      const fault = await tryLines([line], []);
      // Its place in the stream is asked for last: what is told of that follows from the loan's first fault.
      if (fault !== null && !/^(version|occurred_at: lies before)/.test(fault.message)) found.push(faultOf(fault));
    }
    return found.toSorted((one, other) => one.line - other.line);
  };
}

function faultOf({ line, message }: BadLine): FoundInLine {
  return { line, kind: 'fault', what: message };
}
