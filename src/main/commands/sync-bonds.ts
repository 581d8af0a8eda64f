import { NotAsked, RegistryFailure } from '../../registry/port.ts';
import { command, OutOfReach, UsageError } from '../command.ts';
import { runJob } from '../job-pool.ts';

const NOT_CONFIGURED =
  'no registry is configured, so nothing was asked: set REGISTRY_URL to the bridge to the registry';

export const syncBonds = command({
  summary: 'the nightly sync: detect ends of bonds and rehires that the registry knows of',
  help: `
Asks the registry what it came to know about workers' bonds since the last run (and 48 hours before that), closes the
loans of workers whose bond ended (trabalhador.desligado), and tells of workers that were hired anew after that
(trabalhador.vinculo_novo). Each record is detected once: run it as often as you like, on as many machines as you like.
api runs it by itself (JOB_SYNC_BONDS), with LOAN_CORE=outside only where that is set.

Output: {"desligamentos": 2, "novos": 1, "failed": 0, "desconhecidos": 0, "recusados": 0}, the records detected by this run. A
failed record is logged and looked at again by the next run. desconhecidos wait for loans that nobody knows here yet: a run
after the loan came or was imported takes them. recusados are logged and not kept: of another shape, under another partner than
the loan's, or under the referencia of another loan.`,
  exits: {
    done: 'every record went well',
    refused: 'one failed or was refused; what was detected stays detected, and the next run goes on',
    outOfReach: 'the registry or the database is out of reach; what was detected until then stays detected',
  },
  async run(_, line) {
    const { syncBonds: sync } = await import('../../core/bonds/bonds.ts');
    const { openRegistry } = await import('../service/registry.ts');
    return runJob(line, async (pool, { config, log, progress }) => {
      const opened = await openRegistry(config, pool, log);
      if (opened === null) throw new UsageError(NOT_CONFIGURED);
      const deps = { pool, registry: opened.registry, log };
      const scope = { partnerId: null, actor: 'sync-bonds', requestId: null };
      const told = ({ ended, new: rehired }: { ended: number; new: number }) =>
        progress.show(`detected: ${ended} ends of bonds, ${rehired} rehires`);
      const counts = await sync(deps, scope, told).catch(async (error: unknown) => {
        await opened.close();
        if (!(error instanceof RegistryFailure || error instanceof NotAsked)) throw error;
        const message = `the registry was not heard to the end (${error.message}); run it again`;
        throw new OutOfReach(message, { cause: error });
      });
      await opened.close();
      const { ended, new: rehired, failed, unknown, refused } = counts;
      const summary = { desligamentos: ended, novos: rehired, failed, desconhecidos: unknown, recusados: refused };
      return { summary, isGood: failed + refused === 0 };
    });
  },
});
