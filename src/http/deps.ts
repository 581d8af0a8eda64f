import type { Pace } from './body/body-stream.ts';
import type { MarginQueries } from '../core/margin/margin.ts';
import type { Pool } from '../db/pool.ts';
import type { Logger } from '../log-lines.ts';
import type { Metrics } from '../metrics.ts';
import type { Vault } from '../webhooks/secrets.ts';
import type { Cursors } from './cursor.ts';
import type { KeySource } from './auth/keys.ts';

/** What `main` hands to the API. */
export interface HttpDeps {
  readonly pool: Pool;
  readonly vault: Vault;
  readonly cursors: Cursors;
  readonly margins: MarginQueries;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Who may sign tokens, and for whom. */
  readonly tokens: { readonly keys: KeySource; readonly issuer: string; readonly audience: string };
  /** True adds the sandbox's routes; otherwise their paths are 404. */
  readonly sandbox: boolean;
  /** True accepts `http:` and private hosts as webhook targets. */
  readonly allowInsecure: boolean;
  /** Requests of one partner in a minute; 0 is no limit. */
  readonly rateLimitPerMinute: number;
  /** How long a test delivery is waited for, in milliseconds, when it is not 35 s. */
  readonly testWaitMs?: number;
  /** How long a large body waits for its turn, in milliseconds, when it is not 30 s. */
  readonly turnWaitMs?: number;
  /** How slowly a large body may come, when it is not the service's own pace. */
  readonly largeBodyPace?: Pace;
  /** Null when requests can be served, else what is missing, in Portuguese; a throw counts as missing too. */
  readonly ready: () => Promise<string | null>;
}

/** What travels with one request. */
export interface Env {
  Variables: {
    requestId: string;
    /** The matched route's pattern, `-` before there is one. */
    route: string;
    partnerId: string | null;
  };
}
