import { setTimeout as sleep } from 'node:timers/promises';
import { command, optionOr, UsageError } from '../../command.ts';
import { readInteger } from '../../arguments.ts';
import { withJobPool } from '../../job-pool.ts';

export const serve = command({
  summary: 'run the simulated registry as the HTTP service that REGISTRY_URL names (sandbox, staging, tests)',
  options: {
    port: optionOr('--port <number>', 'where it listens; 0 takes a free one', readInteger(0, 65_535), 8400),
    host: optionOr('--host <address>', 'on which address', String, '127.0.0.1'),
    work: optionOr('--work <seconds>', 'how long it works on a registration, answering 202', readInteger(0, 3_600), 0),
  },
  help: `
Answers POST /margens, /averbacoes and GET /vinculos/… as a lender's bridge does (src/registry/README.md), from the tables
of the sandbox in this environment's database: what partners set with /v1/sandbox is what it answers. With
REGISTRY_TOKEN_FILE set it asks for that token. For a staging system:

  SANDBOX=true npm run -s cli -- registry serve --port 8400
  SANDBOX=false REGISTRY_URL=http://127.0.0.1:8400 npm run -s cli -- api

It is a simulation, so it does not start where SANDBOX is false. A signal ends it.`,
  exits: { done: 'a signal ended it', refused: 'the port cannot be listened on' },
  async run({ port, host, work }, { configure, print }) {
    const { config } = configure();
    if (!config.sandbox)
      throw new UsageError('registry serve is a simulation, and SANDBOX is false: set it to true for this command');
    const { readFile } = await import('node:fs/promises');
    const { createSimulatedService } = await import('../../../registry/simulated-service.ts');
    const { startServer } = await import('../../../http/server.ts');
    const { takeStopSignals } = await import('../../service/stop-signals.ts');
    const { tokenFile } = config.bridge;
    const token = tokenFile === null ? null : (await readFile(tokenFile, 'utf8')).trim();
    await withJobPool({ configure }, async (pool) => {
      const { fetch } = createSimulatedService(pool, { token, workS: work });
      const server = await startServer({ fetch: (request) => fetch(request), host, port });
      const stopping = new AbortController();
      const giveBack = takeStopSignals({ onStop: () => stopping.abort(), onInsist: () => process.exit(1) });
      print(`the simulated registry listens on ${server.url}`);
      while (!stopping.signal.aborted)
        await sleep(2 ** 30, undefined, { signal: stopping.signal }).catch(() => undefined);
      await server.close();
      giveBack();
    });
  },
});
