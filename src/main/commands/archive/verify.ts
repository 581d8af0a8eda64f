import { readMonth } from '../../arguments.ts';
import { command, Refusal } from '../../command.ts';
import { runJob } from '../../job-pool.ts';

export const verify = command({
  summary: 'read an archived month again, hash its rows, and compare them with the seals',
  takes: { month: { about: 'an archived month: 2026-10', read: readMonth } },
  help: `
Each file is read from its place and held against the manifest's SHA-256, the manifest against the digest that is sealed in the
log, and the rows of the files against the root of each seal. No file may have the text of a worker who was erased.

Output: {"mes": "2026-10", "selos": {"de": 1, "ate": 420}, "linhas": 1000448, "onde": "/archive", "confere": true}.`,
  exits: { done: 'the files are those that were archived', refused: 'they are not: standard error says which and how' },
  async run({ month }, line) {
    const { verifyMonth } = await import('../../../archive/verify-month.ts');
    const { placesOf } = await import('../../service/archives.ts');
    const openPlace = await placesOf(line.configure().config);
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
