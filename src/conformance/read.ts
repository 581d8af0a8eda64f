/** A webhook's runs, as a partner reads them. */
import type { ConformanceState } from '../contract/conformance.ts';
import type { Pool } from '../db/pool.ts';
import type { Judged } from './run.ts';

export interface Run {
  readonly id: string;
  readonly actor: string;
  readonly startedAt: Date;
  readonly endedAt: Date | null;
  readonly checks: readonly Judged[];
  readonly reportSha256: string | null;
  readonly isAlive: boolean;
}

export function readRuns(pool: Pool, partnerId: string, webhookId: string): Promise<readonly Run[]> {
  return pool.run(
    (sql) => sql<Run[]>`
    select id, actor, started_at as "startedAt", ended_at as "endedAt", checks, ended_at is null and alive_until > now() as "isAlive",
           encode(sha256(convert_to(report, 'UTF8')), 'hex') as "reportSha256"
    from conformance_runs where webhook_id = ${webhookId} and partner_id = ${partnerId} order by id desc`,
  );
}

export async function readReport(pool: Pool, partnerId: string, webhookId: string, id: string): Promise<string | null> {
  const [row] = await pool.run(
    (sql) => sql<{ report: string | null }[]>`
    select report from conformance_runs where id = ${id} and webhook_id = ${webhookId} and partner_id = ${partnerId}`,
  );
  return row?.report ?? null;
}

/** Under way, approved, failed, or ended before its end. */
export function stateOf({ isAlive, reportSha256, checks }: Run): ConformanceState {
  if (isAlive) return 'em_andamento';
  if (reportSha256 === null) return 'interrompida';
  if (checks.some(({ verdict }) => verdict === 'falhou')) return 'reprovada';
  return checks.some(({ why }) => why === 'tempo') ? 'interrompida' : 'aprovada';
}
