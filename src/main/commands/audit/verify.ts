import { readHead } from '../../arguments.ts';
import { command, option } from '../../command.ts';

export const verify = command({
  summary: 'read and hash all that was sealed again, and name what does not fit',
  options: {
    head: option(
      '--head <head>',
      'a head that was kept outside: a line of audit head, or of X-Carteiro-Checkpoint',
      readHead,
    ),
    since: option(
      '--since <head>',
      'the cabeca of an earlier verdict that was kept outside: go on from there',
      readHead,
    ),
  },
  help: `
Reads every sealed row again, hashes it here, and holds it against its seal, the log's tree and every checkpoint that was
signed. It goes on after a finding. It also tells: rows older than ten minutes without a seal, and rows that name another time than
their seal's; what differs of tables, views, functions, triggers and rights from what this release makes (not on a standby);
webhooks, lanes and partners that are not as the newest line of their history has them; and deliveries whose status does not follow
from their attempts and orders.

A log that was cut short or made anew is whole by itself: give --head with a head that was kept elsewhere to see that too; the
verdict then names both heads and the row where they part. With --since only what was sealed after an earlier verdict is read;
everything before is covered by that verdict's head.

Output: {"selos": 19, "linhas": 1000448, "cabeca": "19:9f3c…", "achados": [], "confere": true}; a finding is
{"tipo": "linha_alterada", "selo": 12, "tabela": "attempts", "linha": "0199…/1", "colunas": ["status_code"], "detalhe": "…"}.`,
  exits: { done: 'the log is whole', refused: 'it is not' },
  async run({ head, since = null }, { configure, print }) {
    const { config, log } = configure();
    const { writeHead } = await import('../../../audit/checkpoint/heads.ts');
    const { verifySeals } = await import('../../../audit/seals/verify.ts');
    const { runJob } = await import('../../job-pool.ts');
    const { readCheckpointKeys } = await import('../../service/checkpoint-keys.ts');
    return runJob({ config, log, print, onStrange: 'accept', needs: 'auditor' }, async (pool, progress) => {
      const onProgress = (rows: number) => progress.show(`${rows} rows hashed again`);
      const heads = head === undefined ? [] : [head];
      const keys = config.checkpointKeyFile === null ? [] : (await readCheckpointKeys(config)).verifiers;
      const installation = { schema: config.databaseSchema, rolePrefix: config.databaseRolePrefix };
      const verdict = await verifySeals(pool, { heads, since, keys, installation, onProgress });
      const isGood = verdict.findings.length === 0;
      const summary = {
        selos: verdict.seals,
        linhas: verdict.rows,
        cabeca: verdict.head === null ? null : writeHead(verdict.head),
        achados: verdict.findings,
        confere: isGood,
      };
      return { summary, isGood };
    });
  },
});
