/** The bench's command line. */
import { accessSync, constants } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { atLeast, type Bench, type Figure, holds, type Measured, reported } from './figure.ts';
import { killPollers } from './carteiro.ts';
import { figures as allFigures } from './figures/all.ts';
import { killChildren } from './harness/child.ts';
import { createProgress } from './harness/progress.ts';
import { startReceiver } from './harness/receiver.ts';
import { startServer } from './harness/server.ts';
import { tableOf } from './harness/table.ts';
import { cleanWhenInterrupted } from '../support/interrupted.ts';

interface Options {
  readonly only?: readonly Figure[];
  readonly quick: boolean;
  readonly json?: string;
  readonly seed: number;
  readonly rounds: number;
}

function parseOnly(text: string): Figure[] {
  return text.split(',').map((id) => {
    const figure = allFigures.find((known) => known.id === id.trim());
    if (!figure)
      throw new InvalidArgumentError(`Give one or more of: ${allFigures.map((known) => known.id).join(', ')}.`);
    return figure;
  });
}

function parseWhole(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('Give a whole number.');
  return Number(text);
}

function parseRounds(text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new InvalidArgumentError('Give a whole number from 1 to 9999.');
  return Number(text);
}

/** Asked before anything is measured: after 20 minutes is too late. */
function parseFile(text: string): string {
  const folder = dirname(resolve(text));
  try {
    accessSync(folder, constants.W_OK);
  } catch {
    throw new InvalidArgumentError(`Nothing can be written to the folder ${folder}.`);
  }
  return text;
}

/** Settings of contenders that are tried out: they change what is measured, so they are told with it. */
function triedSettings(): Record<string, string> {
  const tried = Object.entries(process.env).filter(([name]) => name.startsWith('BENCH_'));
  return Object.fromEntries(tried) as Record<string, string>;
}

/** Runs the figures on a server and a receiver of their own; both are gone afterwards, whatever happens. */
export async function measure(
  figures: readonly Figure[],
  options: Pick<Bench, 'isQuick' | 'seed' | 'rounds'>,
): Promise<Measured[]> {
  const progress = createProgress();
  const server = await progress.phase('starting PostgreSQL', 90, () => startServer());
  const clean = async () => {
    killChildren();
    await killPollers();
    await server.remove();
  };
  const forgetInterrupts = cleanWhenInterrupted(clean);
  try {
    const receiver = await startReceiver();
    const measured: Measured[] = [];
    for (const figure of figures) {
      try {
        measured.push(...(await figure.run({ server, receiver, progress, ...options })));
      } catch (error) {
        // The other figures are still worth having; this one does not hold.
        progress.note(`${figure.id} failed: ${(error as Error).stack}`);
        const [reason = ''] = (error as Error).message.split('\n');
        measured.push(reported(figure.id, `${figure.id} FAILED: ${reason}`, Number.NaN, '', atLeast(0)));
        await receiver.behave([]);
      }
    }
    return measured;
  } finally {
    forgetInterrupts();
    await clean();
  }
}

function program(): Command {
  const list = allFigures.map(({ id, about }) => `  ${id.padEnd(10)} ${about}`).join('\n');
  return new Command('npm run bench --')
    .description(
      'Measures Carteiro beside graphile-worker, pg-boss, a hand-written loop and the physical limit, on an embedded ' +
        'PostgreSQL with fsync and synchronous_commit on. Both sides of a comparison run in turns (A B A B) in the same ' +
        'run; what is told are medians, and medians of the ratios of turns that stood side by side.',
    )
    .usage('[options]')
    .addHelpText(
      'after',
      `
Figures, in the order in which they run:
${list}

Every contender is a process of its own on a database of its own, sends the same signed POSTs with keep-alive to the
same receiver process, and leaves one durable attempt row for each; that is checked after every turn. CPU seconds come
from /proc (so the bench runs on Linux), those of PostgreSQL with its exited backends.

Everything lies in a temporary folder that is gone afterwards, and listens on 127.0.0.1 alone. Expect about 20 minutes,
4 GB of disk, and figures that mean little while the machine does something else.

The table goes to standard output, progress to standard error. Exit code 1: a bar does not hold.

Examples:
  npm run bench -- --quick                       does it still run? (2 minutes)
  npm run bench -- --only drain --rounds 5       one figure, more turns
  npm run bench -- --json bench.json`,
    );
}

/** Returns the exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  const command = program()
    .option('--only <ids>', 'these figures alone, separated by commas', parseOnly)
    .option('--quick', 'small sizes, for a smoke run of two minutes; the figures say so and are not judged', false)
    .option('--json <file>', 'write {figures: [{id, label, value, unit, bar, holds}]}', parseFile)
    .option('--seed <number>', 'of the arrival times', parseWhole, 1)
    .option('--rounds <number>', 'how often each side of a comparison is measured, in turn', parseRounds, 3);
  command.parse(argv);
  const { only = allFigures, quick, json, seed, ...options } = command.opts<Options>();
  const rounds = quick ? 1 : options.rounds;
  const measured = await measure(only, { isQuick: quick, seed, rounds });
  if (quick) process.stdout.write('a quick run: small sizes, nothing is judged\n');
  const tried = triedSettings();
  for (const [name, value] of Object.entries(tried)) process.stdout.write(`not as it comes: ${name}=${value}\n`);
  process.stdout.write(`${tableOf(measured, !quick)}\n`);
  if (json !== undefined) {
    const reported = measured.map((figure) => ({ ...figure, holds: quick ? null : holds(figure) }));
    await writeFile(json, `${JSON.stringify({ quick, seed, rounds, tried, figures: reported }, null, 2)}\n`);
  }
  const isBroken = ({ value }: Measured) => Number.isNaN(value);
  return measured.some((figure) => isBroken(figure) || (!quick && holds(figure) === false)) ? 1 : 0;
}
