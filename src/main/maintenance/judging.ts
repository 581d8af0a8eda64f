/** Applies the failing-endpoint policy, one process at a time. While off, it ends states set by processes that have it on. */
import type { Config } from '../../config.ts';
import { runLoop } from '../../db/outage-log.ts';
import { forgetFailing, forgetLeft, detectFailing } from '../../delivery/queue/maintenance/failing.ts';
import { parseTarget } from '../../delivery/target/parse-target.ts';
import { keepOperatorWebhook, type OperatorWebhook } from '../../webhooks/operator-webhook.ts';
import { createVault } from '../../webhooks/secrets.ts';
import { runAlerts } from './alerts.ts';
import { startBackground } from '../service/background.ts';
import { readSecretsKeys } from '../service/key-files.ts';
import type { Part, ServiceDeps } from '../service/service.ts';

export const EVERY_MS = 5_000;
const DEADLINE_MS = 10_000;

/** Rejects with a sentence when the operator's URL is none that may be sent to. */
export async function startJudging(deps: ServiceDeps): Promise<Part> {
  const { config, metrics, throttle } = deps;
  const policy = config.failingPolicy;
  const wanted = targetOf(config);
  const vault = createVault(await readSecretsKeys(config));
  return startBackground(deps, {
    name: 'judge',
    deadlineMs: DEADLINE_MS,
    async work({ pool, log }, stopping) {
      let isKept = false;
      let take = () => (policy === null ? forgetFailing(pool) : detectFailing(pool, policy));
      const judge = async (): Promise<number> => {
        if (!isKept) await keepOperatorWebhook(pool, vault, wanted);
        isKept = true;
        for (let hasMore = true; hasMore && !stopping.aborted;) {
          const step = await take();
          for (const { webhookId, change } of step?.changes ?? []) {
            metrics.countFailing(change);
            log.warn({ webhook_id: webhookId, change }, 'the policy for failing endpoints has changed a webhook');
          }
          hasMore = step?.hasMore ?? false;
        }
        if (policy === null) take = () => forgetLeft(pool);
        return EVERY_MS / throttle.rate();
      };
      const away = 'the database is out of reach, judging later';
      const loop = { log, afterFaultMs: EVERY_MS, away, fault: 'failing webhooks could not be judged' };
      await Promise.all([runLoop(loop, stopping, judge), runAlerts(config, { pool, log, throttle }, stopping)]);
    },
  });
}

function targetOf({ operatorWebhook, allowInsecureTargets }: Config): OperatorWebhook | null {
  if (operatorWebhook === null) return null;
  const target = parseTarget(operatorWebhook.url, { allowInsecure: allowInsecureTargets });
  if ('url' in target) return { url: target.url, secret: operatorWebhook.secret };
  throw new Error(`OPERATOR_WEBHOOK_URL is none that a webhook may have: ${target.refused}`);
}
