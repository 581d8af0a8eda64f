/** The physical limit: the same signed POSTs by bare undici, with no database behind them. */
import { type Contender, startPeer } from '../contender.ts';

const BARE_SETTINGS = { connections: 64, count: 100_000, webhooks: 100 };

export function bare(count: number, webhooks: number): Contender {
  return {
    id: 'bare',
    label: 'bare undici, no database',
    seed: async () => undefined,
    start: (databaseUrl, receiverUrl) =>
      startPeer('bare', databaseUrl, receiverUrl, { ...BARE_SETTINGS, count, webhooks }),
    done: async () => count,
  };
}
