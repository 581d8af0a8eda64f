/**
 * The failing-endpoint policy where deliveries are sent; one looks at a time. While off, it undoes what processes with it on leave.
 */
import type { Config } from '../../config.ts';
import type { Pool } from '../../db/pool.ts';
import { takeTurns } from '../../db/outage-log.ts';
import {
  type Change,
  forgetFailing,
  forgetLeft,
  lookForFailing,
  type Step,
} from '../../delivery/queue/upkeep/failing.ts';
import { parseTarget } from '../../delivery/target/parse-target.ts';
import type { Logger } from '../../log-lines.ts';
import { keepOperatorWebhook, type OperatorWebhook } from '../../webhooks/operator-webhook.ts';
import { createVault, type Vault } from '../../webhooks/secrets.ts';
import { runAlerts } from './alerts.ts';
import { startBackground } from '../service/background.ts';
import { readSecretsKeys } from '../service/key-files.ts';
import type { Part, Relief, ServiceDeps } from '../service/service.ts';

export const EVERY_MS = 5_000;
const DEADLINE_MS = 10_000;

/** Rejects with a sentence when the operator's URL is none that may be sent to. */
export async function startJudging(deps: ServiceDeps): Promise<Part> {
  const { config, metrics, relief } = deps;
  const wanted = targetOf(config);
  const vault = createVault(await readSecretsKeys(config));
  return startBackground(deps, {
    name: 'judge',
    deadlineMs: DEADLINE_MS,
    async work({ pool, log }, stopping) {
      const tell = (changes: readonly Change[]) => {
        for (const { webhookId, change } of changes) {
          metrics.countFailing(change);
          log.warn({ webhook_id: webhookId, change }, 'the policy for failing endpoints has changed a webhook');
        }
      };
      await Promise.all([
        runJudge({ pool, log, vault, policy: config.failingPolicy, wanted, tell, relief }, stopping),
        runAlerts(config, { pool, log, relief }, stopping),
      ]);
    },
  });
}

interface JudgeDeps {
  readonly pool: Pool;
  readonly log: Logger;
  readonly vault: Vault;
  readonly policy: Config['failingPolicy'];
  readonly wanted: OperatorWebhook | null;
  readonly tell: (changes: readonly Change[]) => void;
  readonly relief: Relief;
}

async function runJudge(
  { pool, log, vault, policy, wanted, tell, relief }: JudgeDeps,
  stopping: AbortSignal,
): Promise<void> {
  let isKept = false;
  let take: () => Promise<Step | null> =
    policy === null ? () => forgetFailing(pool) : () => lookForFailing(pool, policy);
  const finish = async () => {
    for (let hasMore = true; hasMore && !stopping.aborted;) {
      const step = await take();
      tell(step?.changes ?? []);
      hasMore = step?.hasMore ?? false;
    }
  };
  const away = 'the database is out of reach, judging later';
  const turns = { log, afterFaultMs: EVERY_MS, away, fault: 'failing webhooks could not be judged' };
  await takeTurns(turns, stopping, async () => {
    if (!isKept) await keepOperatorWebhook(pool, vault, wanted);
    isKept = true;
    await finish();
    if (policy === null) take = () => forgetLeft(pool);
    return EVERY_MS / relief.often();
  });
}

function targetOf({ operatorWebhook, allowInsecureTargets }: Config): OperatorWebhook | null {
  if (operatorWebhook === null) return null;
  const target = parseTarget(operatorWebhook.url, { allowInsecure: allowInsecureTargets });
  if ('url' in target) return { url: target.url, secret: operatorWebhook.secret };
  throw new Error(`OPERATOR_WEBHOOK_URL is none that a webhook may have: ${target.refused}`);
}
