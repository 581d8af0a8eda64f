/**
 * Verdicts of `audit verify` for monitors, `--since last`, `--resume`. The database's owner can forge one: the nightly run uses
 * none.
 */
import type { VerificationResource } from '../../contract/resources/audit-verdicts.ts';
import type { Tx } from '../../db/pool.ts';
import { writeHead } from '../checkpoint/checkpoint.ts';
import { ofSeal, type VerifyFinding } from './compare-rows.ts';
import type { TreeHead } from './tree/merkle.ts';
import type { Verification } from './verify.ts';

const KEPT = 1_000;
/** After this a run that was cut short begins anew: what it read may have been changed since. */
const FRESH = '1 day';

/** Keeps a verdict; or, where the run goes on, how far it has come. `since`: seals that an earlier verdict covers. */
export async function keepVerdict(sql: Tx, since: number, found: Verification, isFinished: boolean): Promise<void> {
  const { seals, rows, head, findings } = found;
  await sql`
    insert into verify_verdicts (since, seals, rows, size, root, findings, found, finished)
    values (${since}, ${seals}, ${rows}, ${head?.size ?? 0}, ${head?.root ?? null}, ${findings.length},
            ${JSON.stringify(findings.slice(0, KEPT))}::text::json, ${isFinished})`;
}

/** How far the newest run has come that was cut short within the last day; null when the newest one ended, or began elsewhere. */
export async function readUnfinished(sql: Tx, since: number): Promise<Verification | null> {
  const [row] = await sql<(TreeHead & { seals: number; rows: number; total: number; found: VerifyFinding[] })[]>`
    select size::float8, root, seals::float8, rows::float8, findings as total, found
    from (select * from verify_verdicts order by position desc limit 1) newest
    where not finished and since = ${since} and size > 0 and checked_at > now() - ${FRESH}::interval`;
  if (row === undefined) return null;
  const { size, root, seals, rows, total, found } = row;
  const detalhe = `${total - found.length} more findings of the part before the interruption were not kept: run it anew`;
  const rest = total > found.length ? [ofSeal('lote_alterado', null, detalhe)] : [];
  return { seals, rows, head: { size, root }, findings: [...found, ...rest], uncompared: null };
}

/** The verdict in the answer of `audit verify`. */
export function viewVerification({ seals, rows, head, findings, uncompared }: Verification): VerificationResource {
  const achados = findings.map((found) => ({ ...found, colunas: [...found.colunas] }));
  return {
    selos: seals,
    linhas: rows,
    cabeca: head && writeHead(head),
    achados,
    nao_comparado: uncompared,
    confere: findings.length === 0,
  };
}

/** The verdicts that together cover the whole log: the newest that read all of it, and those that went on from there. */
export interface VerifyStanding {
  readonly holds: boolean;
  readonly findings: number;
  /** Where the newest of them ended; null: there was no seal. */
  readonly head: TreeHead | null;
  readonly checkedAt: Date;
  readonly ageS: number;
}

/** Null before the first verdict. */
export async function readStanding(sql: Tx): Promise<VerifyStanding | null> {
  const [row] = await sql<(Omit<VerifyStanding, 'head'> & { size: number; root: Buffer | null })[]>`
    select (select sum(findings)::int from verify_verdicts where finished and position >= coalesce(
             (select position from verify_verdicts where finished and since = 0 order by position desc limit 1), 0)
           ) as findings,
           size::float8, root, checked_at as "checkedAt",
           abs(extract(epoch from now() - checked_at))::float8 as "ageS"
    from verify_verdicts where finished order by position desc limit 1`;
  if (row === undefined) return null;
  const { size, root, findings, checkedAt, ageS } = row;
  return { holds: findings === 0, findings, head: root === null ? null : { size, root }, checkedAt, ageS };
}
