/**
 * `npm run check:regex`: judges every regular expression of src with recheck, by its automaton or, where that has none, by
 * attacks of up to 64 KiB. One that takes more than linear steps, or that can't be judged, is named, and the check fails.
 */
import { createRequire } from 'node:module';
import type * as Recheck from 'recheck';
import { readRegexes } from './regex-sources.ts';

/** Of one expression; the slowest takes a second. */
const TIMEOUT_MS = 60_000;
const MAX_ATTACK_CHARACTERS = 65_536;

/** Its build for browsers is JavaScript alone, and needs no other process. */
const { checkSync } = createRequire(import.meta.url)('recheck/lib/browser.js') as typeof Recheck;

const regexes = await readRegexes();
const judged = new Map<string, string>();
let faults = 0;
for (const { where, source, flags } of regexes) {
  const name = `/${source}/${flags}`;
  const verdict = judged.get(name) ?? judge(source, flags);
  judged.set(name, verdict);
  if (verdict === 'safe') continue;
  faults += 1;
  process.stderr.write(`${where}: ${name} is ${verdict}\n`);
}
if (faults > 0)
  process.stderr.write('A stranger may write the text: read it by hand, or bound what the expression repeats.\n');
process.exitCode = faults > 0 ? 1 : 0;

function judge(source: string, flags: string): string {
  const options = { timeout: TIMEOUT_MS, randomSeed: 1, maxAttackStringSize: MAX_ATTACK_CHARACTERS };
  const verdict = checkSync(source, flags.replaceAll(/[dv]/g, ''), options);
  if (verdict.status === 'vulnerable') return verdict.complexity.summary;
  return verdict.status === 'safe' ? verdict.status : `not judged: ${verdict.error.kind}`;
}
