import { isIPv6 } from 'node:net';
import { POLLER_METRICS_PORT } from '../../config.ts';
import { command, Refusal } from '../command.ts';

const DEADLINE_MS = 3_000;

/** A server that listens everywhere is asked on the loopback. */
const LOOPBACK: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

async function isAlive(host: string, port: number): Promise<boolean> {
  const asked = LOOPBACK[host] ?? host;
  const url = `http://${isIPv6(asked) ? `[${asked}]` : asked}:${port}/healthz`;
  const answer = await fetch(url, { signal: AbortSignal.timeout(DEADLINE_MS) }).catch(() => null);
  return answer?.status === 200;
}

export const health = command({
  summary: 'ask whether the api, poll or start of this environment lives; for container health checks',
  help: `
Asks /healthz on HOST at PORT and at METRICS_PORT, of which a process serves one, for 3 s at most. An api that waits for its
database lives: a restart would not help it.

Output: alive`,
  exits: { done: 'one of the two answers', refused: 'neither answers', outOfReach: null },
  async run(_, { configure, print }) {
    const { host, port, metricsPort: own } = configure().config;
    const metricsPort = own ?? POLLER_METRICS_PORT;
    const answers = await Promise.all([port, metricsPort].map((asked) => isAlive(host, asked)));
    if (!answers.includes(true)) throw new Refusal(`nothing answers at ports ${port} and ${metricsPort} of ${host}`);
    print('alive');
  },
});
