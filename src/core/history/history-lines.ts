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
