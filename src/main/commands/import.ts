import { open } from 'node:fs/promises';
import type { LineWarning } from '../../core/history/append-batch.ts';
import { checkHistory, type FoundInLine } from '../../core/history/check-history.ts';
import { importHistory as run, type ImportProgress, USUAL_PACE } from '../../core/history/import-history.ts';
import type { Pool } from '../../db/pool.ts';
import { readInteger, readMonth, readText } from '../arguments.ts';
import { command, type CommandLine, EXIT, type ExitCode, flag, option, optionOr, UsageError } from '../command.ts';
import { withJobPool } from '../job-pool.ts';
import { refuseNowhere } from '../operator.ts';
import type { Progress } from '../progress.ts';

const REPORT_EVERY_MS = 30_000;
const WARNINGS_TOLD = 100;

export const importHistory = command({
  summary: 'bring in the events of loans that exist already, without deliveries',
  takes: { file: { about: 'one event a line, as JSON; - is standard input', read: readText, shown: 'FILE' } },
  options: {
    closedUntil: option(
      '--closed-until <month>',
      'the last month whose installments were settled elsewhere: 2026-10',
      readMonth,
    ),
    check: flag('--check', 'tell every fault and warning of the file, and append nothing'),
    batch: optionOr('--batch <events>', 'events of one transaction', readInteger(1, 10_000), USUAL_PACE.batch),
    rate: optionOr(
      '--rate <events>',
      'new events a second at most; 0: as fast as it goes',
      readInteger(0, 1_000_000),
      USUAL_PACE.rate,
    ),
  },
  help: `
The lender's loans come in with their whole lives: each event with its own time, in the order of its stream. Nobody is sent one.
Afterwards the loans are read, settled and told of like any other, and the next event that the core appends to one is delivered
with its right version.

A line:
  {"stream": "<the loan's UUID>", "version": 1, "type": "emprestimo.contratado", "partner_id": "<UUID>",
   "occurred_at": "2025-03-31T12:00:00.000Z", "data": {"emprestimo_id": "<the loan's UUID>", …}}
actor, request_id and family may be added; they are append_event's. data is what the catalog has (select name, payload from
carteiro.event_types). The streams of a file may be mixed; each has its own events in order, from version 1 and without a gap.

Installments that fell due before the lender came: --closed-until says once up to which month they were settled elsewhere, for
each loan whose desembolso.liquidado the file has. No batch counts them, and saldo_pendente leaves them out.

Each event is held to the catalog, to the loan's rules and to the clock. At the first line that does not fit the command stops and
says which, by which key and rule. A batch is one transaction: that line's batch is not in, the ones before are. Mend the line and
run the same command again: what is in already is compared, and left as it is. So it is after an interruption, wherever that was.

--check reads the whole file and says of each line that does not fit, or may be crooked, by which key and rule; nothing is
appended. Behind a loan's first fault its lines are held to their keys and the catalog alone. It is one transaction, for which
feed and seals wait: run it before the system serves anybody, or on a copy.

Run it beside the system: it writes at most --rate events a second, over one connection of its two, and waits while seals or
projection are behind. Before the system serves anybody, --rate 0 --batch 1000 is four times as fast. It needs a login that is a member of carteiro_app and carteiro_migrator; take the second away afterwards.

Output: {"lines": 10000000, "events": 10000000, "appended": 10000000, "warnings": 0, "seconds": 10011}; on standard error how far
it is, and the first warnings. With --check a line for each fault and warning, and {"lines": 100000, "faults": 2, "warnings": 1}.

  grant carteiro_migrator to api_login;
  carteiro import loans.ndjson --closed-until 2026-10
  zcat loans.ndjson.gz | carteiro import - --closed-until 2026-10
  revoke carteiro_migrator from api_login;`,
  exits: {
    done: 'every line is in; with --check, every line fits',
    refused:
      'a line does not fit: standard error says which and why; the batches before it are in. With --check: one of them at least',
  },
  async run({ file, closedUntil = null, check, batch, rate }, line) {
    refuseNowhere(line.configure().config);
    const bytes = file === '-' ? process.stdin : await openFile(file);
    if (check) return checked(line, bytes, closedUntil);
    const startedMs = performance.now();
    let warnings = 0;
    const onWarning = ({ line: number, warning }: LineWarning) => {
      warnings += 1;
      if (warnings <= WARNINGS_TOLD) process.stderr.write(`line ${number}: warning: ${warning}\n`);
      if (warnings === WARNINGS_TOLD)
        process.stderr.write('Further warnings are only counted: import --check tells all\n');
    };
    const {
      stopped,
      line: lines,
      events,
      appended,
    } = await withJobPool(
      line,
      (pool, { log, progress }) =>
        run({ pool, log, onProgress: telling(progress), onWarning }, bytes, { closedUntil, batch, rate }),
      { needs: 'migrator' },
    );
    if (stopped !== null) process.stderr.write(`${sentenceOf(stopped, lines)}\n`);
    const seconds = Math.round((performance.now() - startedMs) / 1_000);
    line.print(JSON.stringify({ lines, events, appended, warnings, seconds }));
    return stopped === null ? EXIT.done : EXIT.refused;
  },
});

async function checked(line: CommandLine, bytes: AsyncIterable<Buffer>, closedUntil: string | null): Promise<ExitCode> {
  const reported = ({ line: number, kind, what }: FoundInLine) => line.print(`line ${number}: ${kind}: ${what}`);
  const check = (pool: Pool) => checkHistory(pool, bytes, closedUntil, reported);
  const counts = await withJobPool(line, check, { needs: 'migrator' });
  line.print(JSON.stringify(counts));
  return counts.faults === 0 ? EXIT.done : EXIT.refused;
}

async function openFile(name: string): Promise<AsyncIterable<Buffer>> {
  try {
    return (await open(name)).createReadStream();
  } catch (error) {
    throw new UsageError(`${name} cannot be read (${(error as { code?: string }).code ?? 'unknown'})`, {
      cause: error,
    });
  }
}

/** A line that is written over for a person at a terminal; elsewhere one now and then, for who looks into the log later. */
function telling(progress: Progress) {
  const startedMs = performance.now();
  let loggedMs = startedMs;
  return ({ line, events, appended, waitsFor }: ImportProgress): void => {
    const now = performance.now();
    const speed = `${Math.round((events / (now - startedMs)) * 1_000)} events/s`;
    const text = `line ${line} is in, ${appended} events are new, ${speed}${waitsFor === null ? '' : `; waits for ${waitsFor}`}`;
    progress.show(text);
    if (process.stderr.isTTY || now - loggedMs < REPORT_EVERY_MS) return;
    loggedMs = now;
    process.stderr.write(`${text}\n`);
  };
}

function sentenceOf({ line, reason }: { readonly line: number; readonly reason: string }, until: number): string {
  const kept = until === 0 ? 'Nothing is in' : `Lines 1 to ${until} are in, and nothing behind them`;
  return `line ${line}: ${reason}. ${kept}: mend the line and run the same command again`;
}
