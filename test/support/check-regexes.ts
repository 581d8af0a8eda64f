/**
 * `npm run check:regex`: judges every regular expression of src with recheck, by its automaton or, where that has none, by
 * attacks of up to 64 KiB. One that takes more than linear steps, or that can't be judged, is named, and the check fails. A
 * thread for each core: one takes 38 s.
 */
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
import type * as Recheck from 'recheck';
import { type RegexSource, readRegexes } from './regex-sources.ts';

/** Of one expression; the slowest takes four seconds on a quiet machine. */
const TIMEOUT_MS = 600_000;
const MAX_ATTACK_CHARACTERS = 65_536;

if (isMainThread) {
  const regexes = new Map((await readRegexes()).map((regex) => [`/${regex.source}/${regex.flags}`, regex]));
  const threads = availableParallelism();
  const shares = Array.from({ length: threads }, (_, thread) =>
    [...regexes.values()].filter((_regex, index) => index % threads === thread),
  );
  const faults = (await Promise.all(shares.map(judgeInThread))).flat();
  for (const fault of faults.toSorted()) process.stderr.write(`${fault}\n`);
  if (faults.length > 0)
    process.stderr.write(
      'A stranger may write the text: bound what the expression repeats, or read the text without one.\n',
    );
  process.exitCode = faults.length > 0 ? 1 : 0;
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
} else parentPort?.postMessage((workerData as RegexSource[]).flatMap(judge));

function judgeInThread(share: RegexSource[]): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(import.meta.filename, { workerData: share });
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}

/** What is wrong with it, or nothing. */
function judge({ where, source, flags }: RegexSource): string[] {
  // Its build for browsers is JavaScript alone, and needs no other process.
  const { checkSync } = createRequire(import.meta.url)('recheck/lib/browser.js') as typeof Recheck;
  // Attacks are bounded by their number: bounded by a clock, a busy machine would try others, and judge otherwise.
  const options = {
    timeout: TIMEOUT_MS,
    randomSeed: 1,
    maxAttackStringSize: MAX_ATTACK_CHARACTERS,
    incubationTimeout: null,
    attackTimeout: null,
  };
  const verdict = checkSync(source, flags.replaceAll(/[dv]/g, ''), options);
  if (verdict.status === 'safe') return [];
  const fault = verdict.status === 'vulnerable' ? verdict.complexity.summary : `not judged: ${verdict.error.kind}`;
  return [`${where}: /${source}/${flags} is ${fault}`];
}
