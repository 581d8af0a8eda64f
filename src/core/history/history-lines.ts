/** A file of history, read as a stream: one event a line, as JSON (log/README.md, "History"). */

/** A payload may be raised to 1 MiB, and has its event around it. */
const MAX_LINE_BYTES = 2 * 1024 * 1024;
const LINE_FEED = 10;

export interface HistoryLine {
  /** From 1, as an editor counts. */
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

/** The lines that are not empty. Throws {@link BadLine}. */
export async function* readHistoryLines(bytes: AsyncIterable<Buffer>): AsyncGenerator<HistoryLine> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let number = 0;
  let kept: Buffer[] = [];
  let size = 0;
  const take = (last: Buffer): HistoryLine[] => {
    const line = kept.length === 0 ? last : Buffer.concat([...kept, last]);
    [kept, size] = [[], 0];
    number += 1;
    if (line.length > MAX_LINE_BYTES) throw tooLong(number);
    try {
      const text = decoder.decode(line);
      return text.trim() === '' ? [] : [{ number, text }];
    } catch {
      throw new BadLine(number, 'is not UTF-8');
    }
  };
  for await (const chunk of bytes) {
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, from)) {
      yield* take(chunk.subarray(from, end));
      from = end + 1;
    }
    kept.push(chunk.subarray(from));
    size += chunk.length - from;
    if (size > MAX_LINE_BYTES) throw tooLong(number + 1);
  }
  if (size > 0) yield* take(Buffer.alloc(0));
}

function tooLong(line: number): BadLine {
  return new BadLine(line, `is longer than ${MAX_LINE_BYTES / 1024} KiB`);
}
