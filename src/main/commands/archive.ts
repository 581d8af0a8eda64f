import { sealAll } from '../../audit/seals/sealer.ts';
import type { Config } from '../../config.ts';
import { logFailedTry } from '../../db/outage-log.ts';
import { readMonth, readText, readUuid } from '../arguments.ts';
import { command, Refusal, required, type Group } from '../command.ts';
import { runJob } from '../job-pool.ts';
import { author, requiredReason } from '../operator.ts';
import { readCheckpointKeys } from '../service/key-files.ts';

/** The places of the settings and the keys that sign, for commands that work on files. */
export async function openFiles(config: Config) {
  const { placesOf } = await import('../service/archives.ts');
  return { openPlace: await placesOf(config), signers: (await readCheckpointKeys(config)).signers };
}

const to = required('--to <place>', 'a directory, or s3://bucket/prefix', readText);

const own = command({
  summary: 'write the month’s sealed rows to files outside the database, and verify them there',
  takes: { month: { about: 'a month that is over: 2026-10', read: readMonth } },
  options: { to, author },
  help: `
The seals that were made in the month go whole, with every row that they cover, and the ended deliveries of its events. Each table
becomes Parquet files (Zstandard) in columns of its own types; DuckDB, pandas and Spark read them. manifesto-….json names the seals
and each file with its SHA-256, and is signed by the keys of CHECKPOINT_KEY_FILE.

Everything is read back from the place, hashed again and compared with the seals. Only then is the month registered, in a row that
is sealed like the rest. Nothing is removed from the database: maintain does that. A run that was cut short is run again. Where the
files of a month were altered or lost before its rows were removed, it is written anew.

S3: ARCHIVE_S3_KEY_ID, ARCHIVE_S3_SECRET_FILE, ARCHIVE_S3_REGION (us-east-1), and ARCHIVE_S3_ENDPOINT where it is not Amazon's.
The files hold CPFs: give the place the rights and the encryption of the database.

Output: {"mes": "2026-10", "selos": {"de": 1, "ate": 420}, "linhas": 1000448, "onde": "/archive", "manifesto": "9f3c…"}.

  carteiro archive 2026-10 --to s3://lender-archive/carteiro
  duckdb -c "select outcome, count(*) from '/archive/2026-10/attempts-*.parquet' group by 1"`,
  exits: { done: 'the month is in its place, and was verified there', refused: 'it is not: standard error says why' },
  async run({ month, to, author: actor }, line) {
    const { archiveMonth } = await import('../../archive/write-month.ts');
    const { openPlace, signers } = await openFiles(line.configure().config);
    const place = openPlace(to);
    return runJob(line, async (pool, { progress }) => {
      const onProgress = (rows: number) => progress.show(`${rows} rows are in ${place.name} and were verified there`);
      const made = await archiveMonth({ pool, place, openPlace, month, signers, actor, onProgress });
      const summary = {
        mes: month,
        selos: { de: made.firstSeal, ate: made.lastSeal },
        linhas: made.rows,
        onde: made.place,
        manifesto: made.manifest.toString('hex'),
      };
      return { summary, isGood: true };
    });
  },
});

const verify = command({
  summary: 'read an archived month again, hash its rows, and compare them with the seals',
  takes: { month: { about: 'an archived month: 2026-10', read: readMonth } },
  help: `
Each file is read from its place and held against the manifest's SHA-256, the manifest against the digest that is sealed in the
log, and the rows of the files against the root of each seal. No file may have the text of a worker who was erased.

Output: {"mes": "2026-10", "selos": {"de": 1, "ate": 420}, "linhas": 1000448, "onde": "/archive", "confere": true}.`,
  exits: { done: 'the files are those that were archived', refused: 'they are not: standard error says which and how' },
  async run({ month }, line) {
    const { verifyMonth } = await import('../../archive/verify-month.ts');
    const { openPlace } = await openFiles(line.configure().config);
    return runJob(line, async (pool, { progress }) => {
      const onProgress = (rows: number) => progress.show(`${rows} rows hashed again`);
      const { firstSeal, lastSeal, rows, place, texts } = await verifyMonth(pool, openPlace, month, onProgress);
      if (texts > 0) {
        const mend = 'run maintain; if they stay, erasures.looked_to was changed: set it to null first';
        throw new Refusal(`the files of ${month} have ${texts} texts of workers who were erased: ${mend}`);
      }
      const selos = { de: firstSeal, ate: lastSeal };
      return { summary: { mes: month, selos, linhas: rows, onde: place, confere: true }, isGood: true };
    });
  },
});

const recall = command({
  summary: 'bring the history of one loan back that maintain took out of the log',
  takes: { loan: { about: 'its id', read: readUuid } },
  help: `
The events of a loan that has been over for KEEP_MONTHS leave the log with their months. Over HTTP, and in the other commands, they come
back by themselves for whoever needs them. This is for a loan core that appends in SQL: append_event answers CT423 for such a loan.

They come back as they were, to the last byte, in one transaction. maintain takes them again when the next month goes.

Output: {"emprestimo": "0199…", "voltou": true}; false: its history was not away.`,
  exits: { done: 'its history is in the log', refused: 'a file is lost or altered: standard error says which' },
  async run({ loan }, line) {
    const { archiveReads } = await import('../service/archives.ts');
    return runJob(line, async (pool, { config }) => {
      const voltou = await (await archiveReads(config, pool)).bringBack('stream', loan);
      return { summary: { emprestimo: loan, voltou }, isGood: true };
    });
  },
});

const restore = command({
  summary: 'bring the rows of a removed month back into the database',
  takes: { month: { about: 'a month that maintain removed: 2026-10', read: readMonth } },
  options: { author, reason: requiredReason },
  help: `
The month's files are verified first; then its deliveries and attempts come back as they were, with their places in the log, in
batches. What is there already stays as it is, so a run that was cut short is run again. The files stay where they are. maintain
leaves a restored month alone until archive has written it again.

Output: {"mes": "2026-10", "linhas": 1000448}.

  carteiro archive restore 2026-10 --reason 'auditoria 812'`,
  exits: { done: 'the month is back', refused: 'it is not: standard error says why; run it again' },
  async run({ month, author: actor, reason }, line) {
    const { restoreMonth } = await import('../../archive/move-month.ts');
    const { openPlace } = await openFiles(line.configure().config);
    return runJob(line, async (pool, { progress }) => {
      const onProgress = (rows: number) => progress.show(`${rows} rows are back`);
      const linhas = await restoreMonth({ pool, openPlace, month, actor, reason, onProgress });
      return { summary: { mes: month, linhas }, isGood: true };
    });
  },
});

const move = command({
  summary: 'copy the files of an archived month to another place, and read them there from then on',
  takes: { month: { about: 'an archived month: 2026-10', read: readMonth } },
  options: { to, reason: requiredReason, author },
  help: `
Everything is verified where it lies, copied as it is, and verified in the new place. Only then is that registered, in a row that is
sealed like the rest. The files in the old place stay: take them away yourself, because worker erase does not reach them any more.
ARCHIVE_TO says where maintain puts the months to come.

Output: {"mes": "2026-10", "onde": "s3://lender-archive/carteiro"}.`,
  exits: { done: 'the month is in the new place', refused: 'it is where it was: standard error says why' },
  async run({ month, to, reason, author: actor }, line) {
    const { carryMonth } = await import('../../archive/move-month.ts');
    const { openPlace } = await openFiles(line.configure().config);
    return runJob(line, async (pool, { progress }) => {
      const onProgress = (files: number) => progress.show(`${files} files are copied`);
      const { place } = await carryMonth({ pool, openPlace, month, actor, reason, onProgress }, openPlace(to));
      return { summary: { mes: month, onde: place }, isGood: true };
    });
  },
});

export const maintain = command({
  summary: 'archive the months that are older than KEEP_MONTHS, verify them, and remove their rows',
  options: { author },
  help: `
First it writes the archived months again that have a text of a worker who was forgotten since, and removes their older files. That is
all where KEEP_MONTHS is not set. Else it removes idempotency keys of that age, but those of loans, which never expire. Then, oldest first, of each month that ended more than KEEP_MONTHS months ago: writes it to ARCHIVE_TO unless it is archived, reads its
files again and compares them with the seals, registers the removal, waits until that is sealed, and removes the ended deliveries and
their attempts in batches. A delivery that waits, or that was sent again since, stays. Last go the events of loans that have been over
since before these months, each loan's all together: cancelled, with its last installment in a closed month, or closed by an end of bond
with nothing outstanding. They come back for whoever needs them. Other events, orders and seals stay.

A run that was cut short, at any point, is run again. A place that is full or away, or a file that was altered, ends the run before
anything of its month is removed. api runs this every night (JOB_MAINTAIN), and when a worker was forgotten.

Output: {"meses": [{"mes": "2025-10", "linhas": 1000448}], "reescritos": [], "chaves": 0, "emprestimos": 0}, the months that
this run removed, those that it wrote again, how many keys it removed, and of how many loans the events left.`,
  exits: {
    done: 'no row of an older month is left that could go',
    refused: 'a month could not go: standard error says why',
  },
  async run({ author: actor }, line) {
    const { config, log } = line.configure();
    const { keepMonths, archiveTo: to } = config;
    const maintenance = keepMonths === null || to === null ? null : { keepMonths, to };
    const { maintainMonths } = await import('../../archive/maintain.ts');
    const files = await openFiles(config);
    return runJob(line, async (pool, { progress }) => {
      // A server on which nobody may create anything for now: the next night will do, for a year.
      await pool
        .run((sql) => sql`select make_loan_numbers()`)
        .catch((error: unknown) => logFailedTry(log, error, 'the counters of loan numbers are made the next night'));
      const seal = async () => void (await sealAll(pool));
      const onProgress = (month: string, rows: number) => progress.show(`${month}: ${rows} rows`);
      const deps = { pool, ...files, actor, seal, onProgress, maintenance };
      const { erased, keys, removed, loans } = await maintainMonths(deps);
      const meses = removed.map(({ month, rows }) => ({ mes: month, linhas: rows }));
      return { summary: { meses, reescritos: erased, chaves: keys, emprestimos: loans }, isGood: true };
    });
  },
});

export const archive: Group = { about: '', own, commands: { verify, recall, restore, move } };
