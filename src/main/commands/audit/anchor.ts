import { command, Refusal, UsageError } from '../../command.ts';
import { runJob } from '../../job-pool.ts';

export const anchor = command({
  summary: 'give the newest checkpoint to the places outside that the settings name',
  help: `
Each place that does not have the newest checkpoint gets it, and its receipt is stored: a time stamp (RFC 3161), a file in a
directory that nobody rewrites, an object of an S3 bucket, a witness's cosignature (C2SP). The failure of one stops no other. The
evidence of a delivery shows the receipts, and audit check verifies them. api runs this by itself every hour (JOB_ANCHOR).

The places: ANCHOR_TIMESTAMP_URL, ANCHOR_DIRECTORY, ANCHOR_S3_URL, ANCHOR_WITNESS_URL.

Output: {"tamanho": 41, "ancoras": [{"tipo": "testemunha", "onde": "witness.example/w1", "erro": null}]}; tamanho counts seals.`,
  exits: { done: 'each place has the newest checkpoint', refused: 'a place failed, or no checkpoint was signed yet' },
  async run(_, line) {
    const { openAnchors } = await import('../../service/anchors.ts');
    const { runAnchors } = await import('../../../audit/anchor/run-anchors.ts');
    const anchors = await openAnchors(line.configure().config);
    if (anchors.length === 0) {
      throw new UsageError(
        'no place is named: set ANCHOR_TIMESTAMP_URL, ANCHOR_DIRECTORY, ANCHOR_S3_URL or ANCHOR_WITNESS_URL',
      );
    }
    return runJob(line, async (pool) => {
      const found = await runAnchors(pool, anchors);
      if (found === null) {
        throw new Refusal(
          'no checkpoint was signed yet: api, poll and audit seal sign with the key of CHECKPOINT_KEY_FILE',
        );
      }
      const ancoras = found.results.map(({ kind, place, error }) => ({ tipo: kind, onde: place, erro: error }));
      return { summary: { tamanho: found.size, ancoras }, isGood: ancoras.every(({ erro }) => erro === null) };
    });
  },
});
