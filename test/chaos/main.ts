/** `npm run chaos`: the long fault run. */
import { Command, InvalidArgumentError } from 'commander';
import { type ChaosResult, runChaos } from './run.ts';

/** For what hangs and was in flight at the last fault: a freeze of 54 s, a lease of 45 s, an attempt of 30 s. */
const PATIENCE_MS = 180_000;

interface Options {
  readonly seed: number;
  readonly deliveries: number;
  readonly kills: number;
  readonly pairs: number;
  readonly stops: number;
  readonly freezes: number;
  readonly cuts: number;
  readonly blackHoles: number;
  readonly minutes: number;
  readonly leaseAlone?: true;
}

function parseCount(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('Give a whole number.');
  return Number(text);
}

function parseMinutes(text: string): number {
  const minutes = Number(text);
  if (!(minutes >= 4 && minutes <= 600)) throw new InvalidArgumentError('Give minutes, 4 to 600.');
  return minutes;
}

const program = new Command('chaos')
  .description('Break everything around three pollers while deliveries flow, then prove that nothing was lost.')
  .option('--seed <n>', 'repeats the choice and order of faults; times of machines are not repeated', parseCount)
  .option('--deliveries <n>', 'deliveries to be committed meanwhile', parseCount, 100_000)
  .option('--kills <n>', 'kill -9 of a poller, and a new one in its place', parseCount, 200)
  .option('--pairs <n>', 'kill -9 of two of the three at once, and new ones in their place', parseCount, 20)
  .option('--stops <n>', 'immediate stops of PostgreSQL, and starts up to 1 s later', parseCount, 20)
  .option('--freezes <n>', 'SIGSTOP of a poller for 46 to 54 s, longer than its leases', parseCount, 8)
  .option('--cuts <n>', 'resets of all database connections of a poller', parseCount, 60)
  .option('--black-holes <n>', 'a poller’s database connections go silent for 6 s', parseCount, 20)
  .option('--minutes <n>', 'faults and commits last 60 % of them; at least 4', parseMinutes, 12)
  .option('--lease-alone', 'pollers hold no lock under their names, as behind a pooler')
  .showHelpAfterError('Add --help for what this command takes.')
  .addHelpText(
    'after',
    `
What happens
  An embedded PostgreSQL, three real processes "carteiro poll", each behind a TCP proxy, and a receiver in a process of
  its own that writes a line for every POST. Transactions commit events for 60 endpoints, one in ten rolls back. Faults
  and commits last for 60 % of --minutes. What is still pending after that when no attempt has ended for 3 minutes is
  stuck. Receivers answer 500, 503 and 302, reset, break off in the status line, drip heads and bodies, hang,
  answer at 29 s and at 31.5 s; one always refuses, one always hangs.
  The others take over what a dead poller held. With --lease-alone of two in three the leases are ended by SQL within 3 s,
  of the third they end by themselves after 45 s.
  Retries are brought forward by SQL, as the sandbox's clock does; triggers note every claim and every slot before that.

What it prints
  Progress on standard error. On standard output, figures (what happened) and faults (all must be 0): lost and stuck
  deliveries, anything sent of a rolled-back transaction, other bytes or a second id for the same event, POSTs without
  an attempt row, attempts before they were due, retries off schedule, failures other than those of the attempt rows.
  Exit code 0 when every fault is 0, else 1.

Example
  npm run chaos -- --seed 7 --deliveries 20000 --kills 40 --stops 5 --freezes 2 --minutes 4`,
  );

function print(title: string, counts: Readonly<Record<string, number>>): void {
  process.stdout.write(`${title}\n`);
  for (const [name, count] of Object.entries(counts)) {
    process.stdout.write(`  ${String(count).padStart(9)}  ${name}\n`);
  }
}

function isClean({ faults, exitCodes }: ChaosResult): boolean {
  return Object.values(faults).every((count) => count === 0) && exitCodes.every((code) => code === 0);
}

program.parse();
const options = program.opts<Options>();
const seed = options.seed ?? Math.floor(Math.random() * 1_000_000);
process.stdout.write(`seed ${seed}\n`);
const spanMs = options.minutes * 60_000 * 0.6;
const result = await runChaos({
  seed,
  deliveries: options.deliveries,
  counts: {
    kill: options.kills,
    pair: options.pairs,
    stop: options.stops,
    freeze: options.freezes,
    cut: options.cuts,
    'black-hole': options.blackHoles,
  },
  spanMs,
  patienceMs: PATIENCE_MS,
  haste: false,
  leaseAlone: options.leaseAlone ?? false,
  say: (line) => void process.stderr.write(`${line}\n`),
});
print('figures', result.figures);
print('pollers said', Object.fromEntries(result.said));
print('faults (all must be 0)', result.faults);
for (const orphaned of result.orphans) process.stdout.write(`a POST without its row: ${JSON.stringify(orphaned)}\n`);
process.stdout.write(`pollers left with ${result.exitCodes.join(', ')} on SIGTERM\n`);
const clean = isClean(result);
process.stdout.write(clean ? 'nothing lost, nothing stuck\n' : `FAILED: repeat it with --seed ${seed}\n`);
process.exitCode = clean ? 0 : 1;
