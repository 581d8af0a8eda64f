import type { LoanCore } from '../contract/statuses.ts';
import type { Pace } from './body/body-stream.ts';
import type { MarginQueries } from '../core/margin/margin.ts';
import type { WorkerKey } from '../core/workers/worker-key.ts';
import type { BondRegistry } from '../registry/bonds-port.ts';
import type { Verifier } from '../audit/checkpoint/note.ts';
import type { ArchiveReads } from '../archive/archived-rows.ts';
import type { ConformanceRuns } from '../conformance/runs.ts';
import type { Pool } from '../db/pool.ts';
import type { Installation } from '../db/installation.ts';
import type { Reports } from '../db/reports.ts';
import type { Logger } from '../log-lines.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Handshake } from '../webhooks/gateway/handshake.ts';
import type { Vault } from '../webhooks/secrets.ts';
import type { Cursors } from './cursor.ts';
import type { KeySource } from './auth/keys.ts';
import type { Route } from './operation.ts';

export interface HttpDeps {
  readonly pool: Pool;
  /** Where reports are read: the primary, or a standby. */
  readonly reports: Reports;
  readonly vault: Vault;
  readonly cursors: Cursors;
  /** The employment-data registry, and margin queries of it; null: none is configured, and what needs one is 503. */
  readonly registry: BondRegistry | null;
  readonly margins: MarginQueries | null;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** False where METRICS_PORT has them, which the public need not see. */
  readonly showsMetrics: boolean;
  /** Who may sign tokens, and for whom. */
  readonly tokens: { readonly keys: KeySource; readonly issuer: string; readonly audience: string };
  /** The sandbox's routes; null: their paths are 404, and nothing simulated is loaded. */
  readonly sandbox: readonly Route[] | null;
  /** `outside` leaves out the partners' routes that write loans, documents, margins and registrations. */
  readonly loanCore: LoanCore;
  readonly documentsDeadlineDays: number;
  /** The addresses and subnets from which POSTs come; empty: not configured. */
  readonly egressAddresses: readonly string[];
  readonly sendsMail: boolean;
  /** Asks each URL of a webhook for permission to deliver; null: without asking. */
  readonly handshake: Handshake | null;
  /** Tries receivers from outside, when their partners ask. */
  readonly conformance: ConformanceRuns;
  /** True accepts `http:` and private hosts as webhook targets. */
  readonly allowInsecure: boolean;
  /** Requests of one partner in a minute; 0 is no limit. */
  readonly rateLimitPerMinute: number;
  /** The time limit of one request for many resends; shorter in tests. */
  readonly resendMs?: number;
  /** How long a test delivery is waited for, in milliseconds, when it is not 35 s. */
  readonly testWaitMs?: number;
  /** How long a large body waits for its turn, in milliseconds, when it is not 30 s. */
  readonly turnWaitMs?: number;
  /** By when a body of up to 64 KiB must be there, when it is not 15 s. */
  readonly bodyPace?: Pace;
  /** How slowly a large body may come, when it is not the service's own pace. */
  readonly largeBodyPace?: Pace;
  /** Under which key workers are found by CPF, and how long the law has a loan's data kept; null: no key is configured. */
  readonly workers: { readonly key: WorkerKey; readonly eraseAfterYears: number } | null;
  readonly archives?: ArchiveReads;
  readonly installation: Installation;
  /** The public keys of the log's checkpoints, the present one first; empty: nothing is signed. */
  readonly checkpointKeys: readonly Verifier[];
  /** Whether each POST carries the newest checkpoint. */
  readonly sendsCheckpoint: boolean;
  /** Null when requests can be served, else what is missing, in Portuguese; a throw counts as missing too. */
  readonly ready: () => Promise<string | null>;
}
