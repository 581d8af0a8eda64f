/** Fixtures end by themselves: with the test that made them, or with the file when no test was running; the last made first. */
type End = () => Promise<void>;

/** Where the ends of new fixtures go; null outside of vitest, where whoever makes one ends it. */
let collecting: End[] | null = null;

export function collectEnds(ends: End[]): void {
  collecting = ends;
}

/** Runs and forgets them all, also when one fails. */
export async function runEnds(ends: End[]): Promise<void> {
  const faults: unknown[] = [];
  for (const end of ends.splice(0).toReversed()) await end().catch((fault: unknown) => faults.push(fault));
  if (faults.length > 0) throw new AggregateError(faults, faults.map(String).join('\n'));
}

/** The end of a fixture: it happens once, at the latest when its test or file is over. */
export function endOf(end: () => unknown): End {
  let ended: Promise<void> | null = null;
  const once = () => (ended ??= (async () => void (await end()))());
  collecting?.push(once);
  return once;
}
