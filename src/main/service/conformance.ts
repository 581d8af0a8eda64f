/** The runs that try receivers from outside: over the same connections as deliveries, under the same rules of targets. */
import { NewestCheckpoint } from '../../audit/checkpoint/newest.ts';
import { signNote } from '../../audit/checkpoint/note.ts';
import type { Config } from '../../config.ts';
import { KEEPS_MS } from '../../conformance/run.ts';
import { ConformanceRuns } from '../../conformance/runs.ts';
import type { Pool } from '../../db/pool.ts';
import { rememberOpened } from '../../delivery/sending/openers.ts';
import { createSender } from '../../delivery/sending/send.ts';
import type { Logger } from '../../log-lines.ts';
import { VERSION } from '../../version.ts';
import { openCredentials } from '../../webhooks/gateway/credentials.ts';
import type { Vault } from '../../webhooks/secrets.ts';
import { openEgress } from './egress.ts';
import { readCheckpointKeys } from './key-files.ts';

export async function openConformance(config: Config, pool: Pool, vault: Vault, log: Logger) {
  const { allowInsecureTargets: allowInsecure, publicUrl } = config;
  const [egress, { signers }] = [await openEgress(config, log), await readCheckpointKeys(config)];
  const monotonicMs = () => performance.now();
  return new ConformanceRuns({
    pool,
    openers: rememberOpened({
      openSecret: (webhookId, encrypted) => vault.decrypt(webhookId, encrypted),
      openCredentials: (webhookId, encrypted) => openCredentials(vault, webhookId, encrypted),
    }),
    openSender: () => createSender({ allowInsecure, now: monotonicMs, keepsMs: KEEPS_MS, ...egress }),
    ...(config.checkpointHeader && { checkpoint: new NewestCheckpoint(pool, monotonicMs) }),
    sign: (report) => signNote(`${report}\n`, signers),
    lender: { name: signers[0]?.name ?? null, url: publicUrl?.href ?? null, version: VERSION },
    log,
    now: () => new Date(),
    monotonicMs,
  });
}
