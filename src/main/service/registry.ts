/** The installation's registry: the bridge that REGISTRY_URL names, the sandbox's simulated one (asked over HTTP, too), or none. */
import { randomBytes } from 'node:crypto';
import type { Config } from '../../config.ts';
import { type MarginDeps, type MarginQueries, marginQueries } from '../../core/margin/margin.ts';
import type { Pool } from '../../db/pool.ts';
import type { Logger } from '../../log-lines.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { createAdapter } from '../../registry/adapter.ts';
import { behindGate, RegistryGate } from '../../registry/gate.ts';
import type { EmploymentRegistry } from '../../registry/port.ts';

/** What lacks a registry where none is configured. */
export const UNASKED = {
  own: 'margin queries and POST …/averbacao are 503, and sync-bonds asks nobody',
  outside: 'sync-bonds asks nobody',
} as const satisfies Record<Config['loanCore'], string>;

export type OpenRegistry = NonNullable<Awaited<ReturnType<typeof openRegistry>>>;

/** What the API asks of it; null, both: none is configured. */
export function askedBy(
  api: Pick<MarginDeps, 'pool' | 'log' | 'reuseHours'>,
  opened: OpenRegistry | null,
): { readonly registry: EmploymentRegistry | null; readonly margins: MarginQueries | null } {
  return { registry: opened && opened.registry, margins: opened && marginQueries({ ...api, ...opened }) };
}

const RECORDING_MS = 5_000;

/** Null: none is configured. Nothing simulated is loaded outside of the sandbox. */
export async function openRegistry(
  config: Pick<Config, 'bridge' | 'sandbox'>,
  pool: Pool,
  log: Logger,
  metrics?: Pick<Metrics, 'watch' | 'countRegistryCall'>,
) {
  const { bridge: settings, sandbox } = config;
  const isSimulated = settings.url === '';
  if (isSimulated && !sandbox) return null;
  const simulated = isSimulated ? await serveSimulated(pool) : null;
  const adapter = createAdapter(simulated === null ? settings : { ...settings, ...simulated, tokenFile: null });
  const timeoutMs = settings.timeoutS * 1_000;
  const gate = new RegistryGate({
    slots: settings.concurrency,
    timeoutMs,
    probe: (signal) => adapter.probe(signal),
    onCall: (outcome) => metrics?.countRegistryCall(outcome),
    onBreaker: (isOpen) =>
      isOpen
        ? log.error(
            {},
            'the registry has failed five times in a row: it is left alone, and asked at GET /saude every 30 s',
          )
        : log.info({}, 'the registry is in service again'),
  });
  metrics?.watch('registry_breaker_open', () => (gate.isOpen ? 1 : 0));
  return {
    registry: behindGate(adapter, gate),
    /** The lease for a caller's row: the time of one call, and of recording its answer. */
    leaseMs: timeoutMs + RECORDING_MS,
    slots: settings.concurrency,
    /** It has failed, and is not asked for a while. */
    isLeftAlone: () => gate.isOpen,
    /** For people. */
    where: isSimulated ? 'the simulated one, of the sandbox' : settings.url,
    async close() {
      gate.close();
      await adapter.close();
      await simulated?.close();
    },
  };
}

/** On the loopback, behind a token, because web pages can reach the loopback. */
async function serveSimulated(pool: Pool) {
  const { createSimulatedService } = await import('../../registry/simulated-service.ts');
  const { startServer } = await import('../../http/server.ts');
  const token = randomBytes(24).toString('base64url');
  const { fetch } = createSimulatedService(pool, { token, workS: 0 });
  const listen = (host: string) => startServer({ fetch: (request) => fetch(request), host, port: 0 });
  const server = await listen('127.0.0.1').catch(() => listen('::1'));
  return { url: server.url, token, close: () => server.close(1_000) };
}
