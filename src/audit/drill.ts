/** The exercise of a bad day. It picks at random, so that in time each month and each kind of delivery has its turn. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Pool } from '../db/pool.ts';
import type { ArchivedDelivery } from '../delivery/partner/delivery-rows.ts';
import type { Verifier } from './checkpoint/note.ts';
import { checkProof } from './proof/check-proof.ts';
import { readProof } from './proof/proof.ts';
import { readTreeHead } from './seals/seal-log.ts';
import type { TreeHead } from './seals/tree/merkle.ts';

const VERIFIERS = path.resolve(import.meta.dirname, 'verifiers');
const FOREIGN = { python: ['python3', 'carteiro_audit.py'], php: ['php', 'carteiro_audit.php'] } as const;
/** Their exit code if nothing is wrong but a part could not be checked. */
const OPEN = 3;
/** A verifier that takes longer is counted as one that does not answer. */
const LONGEST_MS = 60_000;

export interface Drilled {
  readonly mes: string | null;
  /** The attempts of the month of which PostgreSQL made the sealed rows again, and how long that took. */
  readonly restaurado: { readonly linhas: number; readonly segundos: number } | null;
  readonly entrega: string | null;
  /** Null: there was no delivery, the program is not on this machine, or nothing is signed yet. */
  readonly provas: Readonly<Record<'propria' | keyof typeof FOREIGN, boolean | null>>;
  readonly guardada: boolean | null;
  readonly faltas: readonly string[];
}

interface DrillOptions {
  readonly kept: TreeHead | null;
  readonly keys: readonly Verifier[];
  readonly delivery: (id: string) => Promise<ArchivedDelivery | null>;
  /** Verifies the month's files and has PostgreSQL make rows of them; how many. Throws if they are not what was sealed. */
  readonly tryRestore: (month: string) => Promise<number>;
}

export async function holdDrill(pool: Pool, { kept, keys, delivery, tryRestore }: DrillOptions): Promise<Drilled> {
  const faltas: string[] = [];
  const [chosen] = await pool.run(
    (sql) => sql<[{ month: string | null; delivery: string | null }]>`
      select (select month from (select distinct month from archive_acts) m order by random() limit 1) as month,
             (select delivery_id from (
                select delivery_id from attempts
                where outcome = 'entregue' and (epoch, xid8send(tx)::bigint) < (select end_epoch, end_tx from seals order by number desc limit 1)
                order by recorded_at desc limit 1000) a order by random() limit 1) as delivery`,
  );
  const startedMs = performance.now();
  const linhas =
    chosen.month === null
      ? null
      : await tryRestore(chosen.month).catch((error: unknown) => {
          faltas.push(`${chosen.month}: ${(error as Error).message}`);
          return null;
        });
  const segundos = Math.round((performance.now() - startedMs) / 100) / 10;
  const found = chosen.delivery === null ? null : await readProof(pool, chosen.delivery, null, delivery);
  const text = found === null ? null : JSON.stringify(found);
  const own = text === null ? null : checkProof(text, { keys });
  const [python = null, php = null] = text === null ? [] : await judgeElsewhere(text, keys);
  if (own?.fits === false) faltas.push(`the proof of ${chosen.delivery}: ${own.reason}`);
  if (python === false) faltas.push(`the Python verifier refuses the proof of ${chosen.delivery}`);
  if (php === false) faltas.push(`the PHP verifier refuses the proof of ${chosen.delivery}`);
  const held = kept === null ? null : await pool.run((sql) => readTreeHead(sql, kept.size)).catch(() => null);
  const isHeld = kept === null ? null : held?.root.equals(kept.root) === true;
  if (isHeld === false)
    faltas.push(`the log does not lead to the kept head of ${kept?.size} seals: run audit verify --head`);
  return {
    mes: chosen.month,
    restaurado: linhas === null ? null : { linhas, segundos },
    entrega: chosen.delivery,
    provas: { propria: own?.fits ?? null, python, php },
    guardada: isHeld,
    faltas,
  };
}

/** The foreign verifiers' verdicts by the same keys. */
async function judgeElsewhere(text: string, keys: readonly Verifier[]): Promise<(boolean | null)[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'carteiro-drill-'));
  try {
    const file = path.join(folder, 'prova.json');
    await writeFile(file, text, { mode: 0o600 });
    const words = keys.map((key) => key.text);
    return await Promise.all(
      Object.values(FOREIGN).map(([program, script]) =>
        judge(program, [path.join(VERIFIERS, script), 'check', file, ...words]),
      ),
    );
  } finally {
    await rm(folder, { recursive: true });
  }
}

function judge(program: string, words: readonly string[]): Promise<boolean | null> {
  return new Promise((resolve) => {
    execFile(program, words, { timeout: LONGEST_MS }, (error) => {
      if (error === null) resolve(true);
      else resolve(error.code === 'ENOENT' || error.code === OPEN ? null : false);
    });
  });
}
