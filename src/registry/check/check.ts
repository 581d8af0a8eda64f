/**
 * The check of a bridge: the contract, rule by rule, against the service at an address. It makes registrations and margin queries, so it is
 * for a test system. A rule holds, fails, or was not observed (`unseen`): a bridge need not refuse or delay. A rule that a failed one makes
 * pointless is unseen too.
 */
import { randomUUIDv7 } from 'node:crypto';
import { RegistryFailure } from '../port.ts';
import type { RegistrySettings } from '../../settings/outside-settings.ts';
import { createBridge } from './bridge.ts';
import { checkBonds } from './check-bonds.ts';
import { checkMargins, checkSlowness } from './check-margins.ts';
import { checkRegistrations } from './check-registrations.ts';
import { Broken, type CheckOptions, type Line, type Look, Unseen } from './rule.ts';

export interface Checked {
  readonly lines: readonly Line[];
  readonly isHeard: boolean;
}

/** Runs every rule; `report` gets each line at once. */
export async function checkBridge(
  settings: RegistrySettings,
  options: CheckOptions,
  report: (line: Line) => void,
): Promise<Checked> {
  const lines: Line[] = [];
  const bridge = createBridge(settings);
  const look: Look = async (rule, seeing) => {
    const line = await seeing()
      .then((seen) => ({ rule, verdict: 'holds' as const, seen }))
      .catch((error: unknown) => ({ rule, ...judged(error) }));
    lines.push(line);
    report(line);
  };
  try {
    await look('GET /saude answers 2xx', async () => {
      const { status } = await bridge.ask({ method: 'GET', path: '/saude' });
      if (status < 200 || status > 299) throw new Broken(`answered ${status}`);
      return `answered ${status}`;
    });
    await checkMargins(bridge, look, options);
    await checkRegistrations(bridge, look, options);
    await checkBonds(bridge, look);
    await checkSlowness(bridge, look, options);
    await look('a call without the token is refused', async () => {
      if (settings.tokenFile === null) throw new Unseen('no REGISTRY_TOKEN_FILE is set');
      const { status } = await bridge.ask({ method: 'GET', path: `/averbacoes/${randomUUIDv7()}`, isAnonymous: true });
      if (status !== 401 && status !== 403)
        throw new Broken(`answered ${status}: whoever reaches the bridge may ask it`);
      return `answered ${status}`;
    });
    return { lines, isHeard: bridge.isHeard };
  } finally {
    await bridge.close();
  }
}

function judged(error: unknown): Pick<Line, 'verdict' | 'seen'> {
  if (error instanceof Unseen) return { verdict: 'unseen', seen: error.message };
  if (error instanceof Broken || error instanceof RegistryFailure) return { verdict: 'fails', seen: error.message };
  throw error;
}
