/** The physical limit: the same signed POSTs by bare undici, with no database behind them. */
import { type Contender, startPeer } from '../contender.ts';

export function bare(count: number, webhooks: number): Contender {
  return {
    id: 'bare',
    label: 'bare undici, no database',
    seed: async () => undefined,
    start: (databaseUrl, receiverUrl) =>
      startPeer('bare', databaseUrl, receiverUrl, { connections: 64, count, webhooks }),
    done: async () => count,
  };
}
