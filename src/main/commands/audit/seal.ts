import { command } from '../../command.ts';
import { runJob } from '../../job-pool.ts';

export const seal = command({
  summary: 'seal what is settled now',
  help: `
Hashes what is settled and not sealed yet, appends it to the log, and signs the head with CHECKPOINT_KEY_FILE. api and poll do this
every half minute by themselves; this is for a database without either, or to have the newest rows in the log now.

Output: {"selos": 3, "linhas": 139264}, what this run added.`,
  exits: { done: 'all that is settled is sealed' },
  async run(_, line) {
    const { sealAll } = await import('../../../audit/seals/sealer.ts');
    const { signHead } = await import('../../../audit/checkpoint/stored.ts');
    const { readCheckpointKeys } = await import('../../service/key-files.ts');
    const { signers } = await readCheckpointKeys(line.configure().config);
    return runJob(line, async (pool) => {
      const { seals, rows } = await sealAll(pool);
      await pool.transaction((tx) => signHead(tx, signers));
      return { summary: { selos: seals, linhas: rows }, isGood: true };
    });
  },
});
