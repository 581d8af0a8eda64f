/** The operator's jobs on the command line: what each takes and tells. Their work is loaded when one of them runs. */
import { type Command, InvalidArgumentError } from 'commander';
import type { Config } from '../config.ts';
import type { Logger } from '../log-lines.ts';

export interface CommandLine {
  readonly configure: () => { config: Config; log: Logger };
  /** Writes the result to standard output. */
  readonly print: (result: string) => void;
}

/** What a job ends with: one line of JSON, and whether all was as it should be. */
export interface JobResult {
  readonly summary: object;
  readonly isGood: boolean;
}

function parseMonth(text: string): string {
  if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(text)) throw new InvalidArgumentError('Give a month: 2026-06.');
  return text;
}

function parseSeconds(text: string): number {
  if (!/^\d{1,5}$/.test(text)) throw new InvalidArgumentError('Give whole seconds: 60.');
  return Number(text);
}

const SYNC_HELP = `
Asks the registry what it came to know about workers' bonds since the last run (and 48 hours before that), closes the
loans of workers whose bond ended (trabalhador.desligado), and tells of workers that were hired anew after that
(trabalhador.vinculo_novo). Each record is detected once: run it as often as you like, on as many machines as you like.
Meant for a nightly timer:

  0 3 * * *  npm run -s cli -- sync-bonds

Output: {"desligamentos": 2, "novos": 1, "failed": 0}, the records detected by this run. A failed record is logged and
looked at again by the next run.

Exit code: 0 when every record went well, 1 when one failed or the registry or the database was out of reach; what was
detected until then stays detected, and the next run goes on.`;

const CLOSE_HELP = `
Counts the installments of that month of each active partner's disbursed loans, keeps them as settled, and emits
repasse.processado, with zeros for a partner that has none. A month can be closed when it is over in São Paulo, and when
every transaction that had begun to write before its end is in the projection: the command brings the projection up to date
itself, and waits --wait seconds for transactions that are still open. Closing it again changes nothing and says so, also when two machines close it at once. Meant for a monthly timer:

  0 4 1 * *  npm run -s cli -- close-settlement "$(date -d 'last month' +\\%Y-\\%m)"

Output: {"month": "2026-06", "partners": 3, "closed": 2, "alreadyClosed": 1, "failed": []}; failed holds partners' ids.

Exit code: 0 when the month is closed for all, 1 when it is not over, when the projector could not pass its end (the message
names the transaction that is open) or when a partner failed; run it again for those.`;

const REBUILD_HELP = `
The table loans is the fold of each loan's events. This folds the whole log again, 500 loans at a time, and writes what
differs; then it applies the bonds and settlements of the log that are missing. Nothing differs unless somebody wrote to a
table by hand, the code's reading of an event has changed, or the projector logged an event that it could not apply. The API
may go on meanwhile: a version that it writes wins. What the projector has not seen yet is no difference.

Output: {"loans": 1200, "differences": ["0198…"], "repaired": 1}, where differences holds the ids of the loans (or streams).

Exit code: 0 when all is equal or was repaired, 1 when --check found a difference or one could not be repaired.`;

/** Adds sync-bonds, close-settlement and rebuild. */
export function addJobs(program: Command, commandLine: CommandLine): void {
  program
    .command('sync-bonds')
    .description('the nightly sync: detect ends of bonds and rehires that the registry knows of')
    .addHelpText('after', SYNC_HELP)
    .action(async () => {
      const { syncAllBonds } = await import('./sync-bonds.ts');
      await run(commandLine, syncAllBonds);
    });
  program
    .command('close-settlement')
    .description('close the monthly batch of every active partner')
    .argument('<AAAA-MM>', 'the month, which must be over', parseMonth)
    .option('--wait <seconds>', 'how long to wait until the projector has passed the month', parseSeconds, 60)
    .addHelpText('after', CLOSE_HELP)
    .action(async (month: string, { wait }: { wait: number }) => {
      const { closeMonth } = await import('./close-settlement.ts');
      await run(commandLine, (config, log) => closeMonth(config, log, { month, waitMs: wait * 1_000 }));
    });
  program
    .command('rebuild')
    .description('fold the whole log again and repair the loans that differ from it')
    .option('--check', 'change nothing; exit with 1 when something differs')
    .addHelpText('after', REBUILD_HELP)
    .action(async ({ check = false }: { check?: boolean }) => {
      const { rebuild } = await import('./rebuild.ts');
      await run(commandLine, (config, log) => rebuild(config, log, { isCheck: check }));
    });
}

async function run(
  { configure, print }: CommandLine,
  job: (config: Config, log: Logger) => Promise<JobResult>,
): Promise<void> {
  const { config, log } = configure();
  const { summary, isGood } = await job(config, log);
  print(JSON.stringify(summary));
  if (!isGood) process.exitCode = 1;
}
