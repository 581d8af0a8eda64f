/** The auditors' commands on the command line: what each takes and tells. Their work is loaded when one of them runs. */
import { type Command, InvalidArgumentError } from 'commander';
import { type Head, readHead } from '../audit/chain.ts';
import { TEST_NAME } from '../contract/delivery.ts';
import { FIRST_DAY, LAST_DAY } from '../loan/calendar.ts';
import type { CommandLine, JobResult } from './jobs.ts';

function parseDay(text: string): string {
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text) && new Date(`${text}T00:00:00Z`).toJSON()?.startsWith(text);
  if (!isDay) throw new InvalidArgumentError('Give a day: 2026-06-30.');
  if (text < FIRST_DAY || text > LAST_DAY)
    throw new InvalidArgumentError(`Give a day from ${FIRST_DAY} to ${LAST_DAY}.`);
  return text;
}

function parseHead(text: string): Head {
  const head = readHead(text);
  if (head === null) throw new InvalidArgumentError('Give a head as audit head printed it: 12:9f3c….');
  return head;
}

const SEAL_HELP = `
Hashes what is settled and not sealed yet, and chains it to the seals before. api and poll do this every half minute by
themselves; this is for a database without either, or to have the newest rows in the chain now.

Output: {"selos": 3, "linhas": 139264}, what this run added.

Exit code: 0 when all that is settled is sealed, 1 when it could not be.`;

const VERIFY_HELP = `
Hashes every sealed row again, in batches, and compares each with its seal and each seal with the one before. A chain
that was cut short or made anew is whole by itself: give --head with a head that was kept elsewhere to see that too.

Output: {"selos": 19, "linhas": 1000448, "cabeca": "19:9f3c…", "rompido": null}; rompido is the first broken batch as
{"selo": 12, "motivo": "1 of its 65536 rows were removed"}, and the counts are of what came before it.

Exit code: 0 when the chain is whole, 1 when it is not or the database was out of reach.`;

const HEAD_HELP = `
The newest seal, to be kept where nobody who can write to the database can: a notary, a mailbox, a sheet of paper. It
stands for every row sealed so far.

Output: 19:9f3c…, number and hash; nothing when there is no seal yet.

Exit code: 0, or 1 when the database was out of reach.`;

const BALANCE_HELP = `
By partner and day of São Paulo: events × registrations subscribed when each was appended = entregue + pendente + erro +
suspensa. The left side comes from the events and the registrations' history, never from the deliveries. ${TEST_NAME}
stands outside. fato_inesperado is an event that our own core would not have written where it lies in its stream; it is
listed, and the balance closes all the same.

Output: as GET /v1/auditoria/balanco answers, with every difference.

Exit code: 0 when it closes, 1 when there is a difference or the database was out of reach.`;

const CHECK_HELP = `
Checks a file that GET /v1/auditoria/entregas/{id}/prova answered, without a database: the body, each row, each batch and
each seal of the file are hashed again, and the delivery's status is held against its attempts. --head compares with a head
that was kept elsewhere. Not proven: when the delivery was made and ended, and that no newer attempt was left out of the
file; the attempts' own times are. Of a masked file (made without the scope auditoria:cpf) the seals and the status are
checked, not the rows nor the body.

Output: {"confere": true, "motivo": null, "sem_selo": 0}; sem_selo counts the rows that no seal covered yet. confere is
false when something does not fit, and null when all that could be checked fits but motivo tells what could not.

Exit code: 0 when all of it was checked and fits, else 1.`;

/** Adds the group `audit`. */
export function addAudit(program: Command, { configure, print }: CommandLine): void {
  const audit = program.command('audit').description('seals, balance and evidence');
  const finish = ({ summary, isGood }: JobResult) => {
    print(JSON.stringify(summary));
    if (!isGood) process.exitCode = 1;
  };
  const load = () => import('./audit-jobs.ts');
  const add = (name: string, description: string, help: string) =>
    audit.command(name).description(description).addHelpText('after', help);

  add('seal', 'seal what is settled now', SEAL_HELP).action(async () => {
    const { config, log } = configure();
    finish(await (await load()).seal(config, log));
  });
  add('verify', 'hash all that was sealed again, and name the first broken batch', VERIFY_HELP)
    .option('--head <head>', 'a head that was kept outside', parseHead)
    .action(async ({ head }: { head?: Head }) => {
      const { config, log } = configure();
      finish(await (await load()).verify(config, log, head ?? null));
    });
  add('head', 'print the newest seal, to be kept outside', HEAD_HELP).action(async () => {
    const { config, log } = configure();
    const head = await (await load()).readHeadText(config, log);
    if (head !== '') print(head);
  });
  add('balance', 'prove the deliveries from the events and the registrations’ history', BALANCE_HELP)
    .requiredOption('--from <day>', 'the first day, AAAA-MM-DD', parseDay)
    .requiredOption('--to <day>', 'the last day', parseDay)
    .action(async ({ from, to }: { from: string; to: string }) => {
      if (from > to) throw new Error('--to: must not be before --from');
      const { config, log } = configure();
      finish(await (await load()).balance(config, log, from, to));
    });
  add('check', 'check the evidence of one delivery, without a database', CHECK_HELP)
    .argument('<file>', 'the proof, as it was answered')
    .option('--head <head>', 'a head that was kept outside', parseHead)
    .action(async (file: string, { head }: { head?: Head }) => {
      finish(await (await load()).check(file, head ?? null));
    });
}
