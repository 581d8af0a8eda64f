/** The bridge under test: one request, bounded in time as in production. */
import type { RegistrySettings } from '../../settings/outside-settings.ts';
import { Credentials } from '../credentials.ts';
import { type Answer, type Exchange, exchange } from '../exchange.ts';
import { RegistryFailure } from '../port.ts';

interface Asking extends Omit<Exchange, 'requestId'> {
  /** Without the token. */
  readonly isAnonymous?: boolean;
}

export interface Timed extends Answer {
  readonly tookMs: number;
}

export type Bridge = ReturnType<typeof createBridge>;

export function createBridge(settings: RegistrySettings) {
  const own = new Credentials(settings);
  const anonymous = new Credentials({ ...settings, tokenFile: null });
  const { timeoutS, concurrency } = settings;
  let isHeard = false;
  return {
    timeoutS,
    concurrency,
    /** Any answer counts, also a wrong one. */
    get isHeard(): boolean {
      return isHeard;
    },
    /** Returns an answer of any status. Throws `RegistryFailure`. */
    async ask({ isAnonymous = false, ...asking }: Asking): Promise<Timed> {
      const startedAt = performance.now();
      const late = AbortSignal.timeout(timeoutS * 1_000);
      const of = `${asking.method} ${asking.path.split('?', 1)[0]}`;
      const credentials = isAnonymous ? anonymous : own;
      const answer = await exchange(settings.url, credentials, { ...asking, requestId: null }, late).catch(
        (error: Error) => {
          if (late.aborted) throw new RegistryFailure(`${of}: no answer in ${timeoutS} s (REGISTRY_TIMEOUT_SECONDS)`);
          isHeard ||= error.cause === undefined;
          throw error;
        },
      );
      isHeard = true;
      return { ...answer, tookMs: performance.now() - startedAt };
    },
    async close(): Promise<void> {
      await Promise.all([own.close(), anonymous.close()]);
    },
  };
}
