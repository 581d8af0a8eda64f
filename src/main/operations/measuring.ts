/** Measures the database for `/metrics`, at most once a second. It omits a failed measure; an outage ends the round. */
import type { Pool, Tx } from '../../db/pool.ts';
import { logUnavailable } from '../../db/outage-log.ts';
import { codeOf, isUnavailable } from '../../db/unavailable.ts';
import type { Logger } from '../../log-lines.ts';
import type { Readings, ReadingName, Sample } from '../../telemetry/readings.ts';
import {
  measureAnchors,
  measureBalance,
  measureInstallation,
  measureJobs,
  measureLags,
  measureProcesses,
  measureSeals,
  measureTables,
  measureVerify,
} from './measure-installation.ts';
import { measureDepth, measureOverdue, measureWebhooks } from './measure-queue.ts';

/** Of the sessions that measure: none reads a table from end to end, whatever its statistics say. */
export const MEASURING_SETTINGS = { enable_seqscan: 'off', enable_bitmapscan: 'off', jit: 'off' };

const KEPT_MS = 1_000;

/** What may wait for a lock comes last. */
const MEASURES: Readonly<Record<string, (sql: Tx, schema: string) => Promise<Readings>>> = {
  processes: measureProcesses,
  lags: measureLags,
  overdue: measureOverdue,
  depth: measureDepth,
  webhooks: measureWebhooks,
  seals: measureSeals,
  anchors: measureAnchors,
  balance: measureBalance,
  verify: measureVerify,
  jobs: measureJobs,
  installation: measureInstallation,
  tables: measureTables,
};

interface MeasuringDeps {
  readonly pool: Pool;
  readonly log: Logger;
  readonly monotonicMs: () => number;
}

/** Returns what answers with the newest look, or makes one. */
export function measuring(deps: MeasuringDeps): () => Promise<Readings> {
  let looking: Promise<Readings> | null = null;
  let kept: { readonly readings: Readings; readonly atMs: number } | null = null;
  const look = async (): Promise<Readings> => {
    const readings = await measureAll(deps);
    kept = { readings, atMs: deps.monotonicMs() };
    return readings;
  };
  return async () => {
    if (kept !== null && deps.monotonicMs() - kept.atMs < KEPT_MS) return kept.readings;
    looking ??= look().finally(() => (looking = null));
    return looking;
  };
}

async function measureAll({ pool, log, monotonicMs }: MeasuringDeps): Promise<Readings> {
  const all: { [Name in ReadingName]?: Sample[] } = {};
  const add = (readings: Readings) => {
    for (const [name, samples] of Object.entries(readings) as [ReadingName, readonly Sample[]][]) {
      (all[name] ??= []).push(...samples);
    }
  };
  for (const [name, measure] of Object.entries(MEASURES)) {
    const startedMs = monotonicMs();
    try {
      add(await pool.run((sql) => measure(sql, pool.schema)));
      add({ measureSeconds: [{ labels: { measure: name }, value: (monotonicMs() - startedMs) / 1_000 }] });
    } catch (error) {
      if (isUnavailable(error)) {
        logUnavailable(log, error, 'the database could not be measured');
        break;
      }
      log.warn({ measure: name, code: codeOf(error) }, 'the database could not be measured');
    }
  }
  return all;
}
