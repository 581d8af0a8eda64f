/**
 * A file of history, read as a stream: one event a line, as JSON (log/README.md, "History").
 * Not by node:readline: it holds a line of any length, and replaces bytes that are not UTF-8 without a word.
 */

/** A payload may be raised to 1 MiB, and has its event around it. */
const MAX_LINE_BYTES = 2 * 1024 * 1024;
const LINE_FEED = 10;

export interface HistoryLine {
  readonly number: number;
  readonly text: string;
}

/** A line cannot be imported: which one, and by which rule. It repeats nothing of the line, where a CPF may stand. */
export class BadLine extends Error {
  override name = 'BadLine';
  readonly line: number;

  constructor(line: number, reason: string) {
    super(reason);
    this.line = line;
  }
}

/** The lines that are not empty; one that cannot be read is a {@link BadLine}, and those behind it follow. */
export async function* readHistoryLines(bytes: AsyncIterable<Buffer>): AsyncGenerator<HistoryLine | BadLine> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let number = 0;
  let kept: Buffer[] = [];
  let size = 0;
  const keep = (part: Buffer) => {
    size += part.length;
    // Of a line that is too long nothing is kept but its length.
    if (size > MAX_LINE_BYTES) kept = [];
    else kept.push(part);
  };
  const take = (): (HistoryLine | BadLine)[] => {
    const line = size > MAX_LINE_BYTES ? null : Buffer.concat(kept);
    [kept, size] = [[], 0];
    number += 1;
    if (line === null) return [new BadLine(number, `is longer than ${MAX_LINE_BYTES / 1024} KiB`)];
    try {
      const text = decoder.decode(line);
      return text.trim() === '' ? [] : [{ number, text }];
    } catch {
      return [new BadLine(number, 'is not UTF-8')];
    }
  };
  for await (const chunk of bytes) {
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, from)) {
      keep(chunk.subarray(from, end));
      yield* take();
      from = end + 1;
    }
    keep(chunk.subarray(from));
  }
  if (size > 0) yield* take();
}

/** The loan that a line is of; empty where it does not say. */
export function streamOf({ text }: HistoryLine): string {
  return /"stream" *: *"([0-9A-Fa-f-]{36})"/.exec(text)?.[1]?.toLowerCase() ?? '';
}

/** Lines that a batch may have above its size, so that it ends with a loan: history behind an append comes in one call. */
const MOST_BEYOND = 1_000;
/** A batch ends here whatever stands in it: a line may have 2 MiB. */
const MOST_CHARACTERS = 8 * 1_048_576;

/** Lines in batches of `size`; those of a loan that stand one behind another are in one. */
export async function* batchesOf<L extends HistoryLine | BadLine>(
  lines: AsyncIterable<L>,
  size: number,
): AsyncGenerator<L[]> {
  let batch: L[] = [];
  let length = 0;
  let last = '';
  for await (const line of lines) {
    const stream = line instanceof BadLine ? '' : streamOf(line);
    const isFull = batch.length >= size && (stream === '' || stream !== last || batch.length >= size + MOST_BEYOND);
    if (isFull || length >= MOST_CHARACTERS) {
      yield batch;
      batch = [];
      length = 0;
    }
    batch.push(line);
    length += line instanceof BadLine ? 0 : line.text.length;
    last = stream;
  }
  if (batch.length > 0) yield batch;
}
