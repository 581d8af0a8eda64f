/** The auditors' commands: what each does. */
import { readFile } from 'node:fs/promises';
import { addUp, readBalance } from '../audit/balance.ts';
import { type Head, writeHead } from '../audit/chain.ts';
import { checkProof } from '../audit/check-proof.ts';
import { readLastSeal } from '../audit/seal.ts';
import { sealAll } from '../audit/sealer.ts';
import { verifySeals } from '../audit/verify.ts';
import type { Config } from '../config.ts';
import type { Logger } from '../log-lines.ts';
import { withJobPool } from './job-pool.ts';
import type { JobResult } from './jobs.ts';
import { openProgress } from './progress.ts';

export async function seal(config: Config, log: Logger): Promise<JobResult> {
  return withJobPool(config, log, async (pool) => {
    const { seals, rows } = await sealAll(pool);
    return { summary: { selos: seals, linhas: rows }, isGood: true };
  });
}

/** The head alone, to be kept outside: `12:9f3c…`; empty where nothing is sealed. */
export async function readHeadText(config: Config, log: Logger): Promise<string> {
  return withJobPool(
    config,
    log,
    async (pool) => {
      const last = await pool.run(readLastSeal);
      return last === null ? '' : writeHead(last);
    },
    'accept',
  );
}

export async function verify(config: Config, log: Logger, anchor: Head | null): Promise<JobResult> {
  const progress = openProgress();
  try {
    return await withJobPool(
      config,
      log,
      async (pool) => {
        const onProgress = (rows: number) => progress.show(`${rows} rows hashed again`);
        const { seals, rows, head, broken } = await verifySeals(pool, { anchor, onProgress });
        const summary = {
          selos: seals,
          linhas: rows,
          cabeca: head === null ? null : writeHead(head),
          rompido: broken === null ? null : { selo: broken.number, motivo: broken.reason },
        };
        return { summary, isGood: broken === null };
      },
      'accept',
    );
  } finally {
    progress.end();
  }
}

export async function balance(config: Config, log: Logger, from: string, to: string): Promise<JobResult> {
  return withJobPool(
    config,
    log,
    async (pool) => {
      const summary = await addUp(readBalance(pool, from, to), from, to, Infinity);
      return { summary, isGood: summary.fecha };
    },
    'accept',
  );
}

export async function check(file: string, anchor: Head | null): Promise<JobResult> {
  const { fits, reason, unsealed } = checkProof(await readFile(file, 'utf8'), anchor);
  return { summary: { confere: fits, motivo: reason, sem_selo: unsealed }, isGood: fits === true };
}
