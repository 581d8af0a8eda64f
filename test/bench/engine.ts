/** The engine's claim and record, driven without HTTP: every delivery is taken to have been answered with 200. */
import type { ClaimedDelivery } from '../../src/delivery/queue/claim.ts';
import { Slots } from '../../src/delivery/queue/slots.ts';
import { type Claim, Claimer } from '../../src/delivery/poller/claimer.ts';
import { LEASE_ALONE } from '../../src/delivery/poller/liveness.ts';
import { bodyDigestOf } from '../../src/delivery/poller/request.ts';
import { SESSION_SETTINGS } from '../../src/delivery/poller/session.ts';
import { Recorder } from '../../src/delivery/poller/recorder.ts';
import { Consent } from '../../src/delivery/queue/consent.ts';
import { FailingRuns } from '../../src/delivery/queue/maintenance/failing-runs.ts';
import { Sweeper } from '../../src/delivery/queue/maintenance/sweep.ts';
import { Pool } from '../../src/db/pool.ts';
import { DELIVERED } from '../support/delivered.ts';
import { silentLog } from '../support/silent-log.ts';

function openPool(url: string, max = 3): Pool {
  return new Pool({ url, name: 'bench', max, deadlineMs: 60_000, settings: SESSION_SETTINGS });
}

let engines = 0;

export function openEngine(url: string) {
  const pool = openPool(url);
  const monotonicMs = () => performance.now();
  let recorded = 0;
  const name = `bench-${(engines += 1)}`;
  const deps = {
    pool,
    log: silentLog,
    monotonicMs,
    now: () => null,
    sign: LEASE_ALONE,
    runs: new FailingRuns(name),
    consent: new Consent(),
  };
  const claimer = new Claimer({ ...deps, name });
  const sweeper = new Sweeper(deps);
  const recorder = new Recorder({
    ...deps,
    onRecorded: (reports, completions) => {
      claimer.completed(reports, completions);
      recorded += reports.length;
    },
  });
  return {
    /** One turn of a poller: arms what arrived, claims up to `limit`; and sweeps when it is time. */
    async claim(limit: number) {
      const startedMs = performance.now();
      const { claim, deliveries } = await claimer.claim(new Slots(limit), null);
      const tookMs = performance.now() - startedMs;
      await sweeper.sweepNowAndThen();
      return { claim, deliveries, tookMs };
    },
    /** Hands these deliveries to the recorder as delivered. */
    record(claim: Claim, deliveries: readonly ClaimedDelivery[]) {
      for (const delivery of deliveries) {
        const { id: deliveryId, webhookId, partnerId, number, url: target, dueAt } = delivery;
        const report = {
          deliveryId,
          webhookId,
          partnerId,
          number,
          claim: claim.name,
          claimNumber: claim.number,
          dueAt,
          url: target,
          keyId: 'bench',
          bodyDigest: bodyDigestOf(delivery),
        };
        recorder.add({ ...report, startedAtMs: monotonicMs(), startedByMs: Date.now(), result: DELIVERED });
      }
    },
    /** Deliveries recorded so far. */
    recorded: () => recorded,
    /** Resolves when all that was handed over is recorded. */
    settled: () => recorder.settled(),
    async close() {
      await claimer.settled();
      await pool.close();
    },
  };
}
