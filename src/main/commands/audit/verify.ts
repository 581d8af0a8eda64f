import type { TreeHead } from '../../../audit/seals/tree/merkle.ts';
import { keepVerdict, readStanding, readUnfinished, viewVerification } from '../../../audit/seals/verdicts.ts';
import { verifySeals } from '../../../audit/seals/verify.ts';
import { whereToVerify } from '../../../audit/seals/where-to-verify.ts';
import type { Pool } from '../../../db/pool.ts';
import { readHead } from '../../arguments.ts';
import { command, flag, option, Refusal } from '../../command.ts';
import { type Around, type JobResult, keeping, READING, runJob } from '../../job-pool.ts';
import { installationOf } from '../../service/database.ts';
import { readCheckpointKeys } from '../../service/key-files.ts';
import { withReports } from '../../service/reports.ts';

/** How often a long run stores its position. */
const KEEP_PLACE_MS = 10_000;

function readSince(text: string): TreeHead | 'last' {
  return text === 'last' ? 'last' : readHead(text);
}

export const verify = command({
  summary: 'read and hash all that was sealed again, and name what does not fit',
  options: {
    head: option(
      '--head <head>',
      'a head that was kept outside: a line of audit head, or of X-Carteiro-Checkpoint',
      readHead,
    ),
    since: option('--since <head>', 'the cabeca of an earlier verdict, or last: go on from there', readSince),
    resume: flag('--resume', 'go on with a run that was cut short within the last day, where there is one'),
  },
  help: `
Reads every sealed row again, hashes it here, and holds it against its seal, the log's tree and every checkpoint that was
signed. It goes on after a finding. It also tells: rows older than ten minutes without a seal, and rows that name another time than
their seal's; what differs of tables, views, functions, triggers and rights from what this release makes (nao_comparado: what could not be compared);
webhooks, lanes and partners that are not as the newest line of their history has them; and deliveries whose status does not follow
from their attempts and orders.

A log that was cut short or made anew is whole by itself: give --head with a head that was kept elsewhere to see that too; the
verdict then names both heads and the row where they part. With --since only what was sealed after an earlier verdict is read;
everything before is covered by that verdict's head. Verdicts are kept in the database where the login may (that of api may): --since
last goes on from the newest one, and --resume from the place of a run that was cut short. Both take the database's word for what was
read before. api runs audit verify by itself every night (JOB_VERIFY), and takes nobody's.

Output: {"selos": 19, "linhas": 1000448, "cabeca": "19:9f3c…", "achados": [], "nao_comparado": null, "confere": true}; a finding is
{"tipo": "linha_alterada", "selo": 12, "tabela": "attempts", "linha": "0199…/1", "colunas": ["status_code"], "detalhe": "…"}.`,
  exits: { done: 'the log is whole', refused: 'it is not' },
  async run({ head, since = null, resume }, line) {
    const { archiveReads } = await import('../../service/archives.ts');
    const check = async (pool: Pool, { config, log, progress }: Around): Promise<JobResult> => {
      const standing = since === 'last' ? await pool.run(readStanding) : null;
      if (since === 'last' && standing?.holds !== true) {
        throw new Refusal('no verdict without findings was kept: run audit verify without --since');
      }
      const from = since === 'last' ? (standing?.head ?? null) : since;
      const covered = from?.size ?? 0;
      let keptAt = performance.now();
      const unfinished = resume ? await pool.run((sql) => readUnfinished(sql, covered)) : null;
      const newest = Math.max(covered, head?.size ?? 0, unfinished?.head?.size ?? 0);
      const verdict = await withReports(config, pool, log, async (reading) => {
        return verifySeals(await whereToVerify(reading, pool, newest), {
          heads: head === undefined ? [] : [head],
          since: from,
          unfinished,
          primary: pool,
          keys: config.checkpointKeyFile === null ? [] : (await readCheckpointKeys(config)).verifiers,
          installation: installationOf(config),
          archived: (await archiveReads(config, pool)).seals(),
          async onPart(found) {
            progress.show(`${found.rows} rows hashed again`);
            if (performance.now() - keptAt < KEEP_PLACE_MS) return;
            keptAt = performance.now();
            await keeping(log, () => pool.run((sql) => keepVerdict(sql, covered, found, false)));
          },
        });
      });
      await keeping(log, () => pool.run((sql) => keepVerdict(sql, covered, verdict, true)));
      const summary = viewVerification(verdict);
      return { summary, isGood: summary.confere };
    };
    return runJob(line, check, READING);
  },
});
