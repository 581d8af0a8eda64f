import { readMonth, readText } from '../arguments.ts';
import { command, required } from '../command.ts';
import { runJob } from '../job-pool.ts';
import { author } from '../operator.ts';

export const archive = command({
  summary: 'write the month’s sealed rows to files outside the database, and verify them there',
  takes: { month: { about: 'a month that is over: 2026-10', read: readMonth } },
  options: {
    to: required('--to <place>', 'a directory, or s3://bucket/prefix', readText),
    author,
  },
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
    const { config } = line.configure();
    const { archiveMonth } = await import('../../archive/write-month.ts');
    const { placesOf } = await import('../service/archives.ts');
    const { readCheckpointKeys } = await import('../service/key-files.ts');
    const openPlace = await placesOf(config);
    const place = openPlace(to);
    const { signers } = await readCheckpointKeys(config);
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
