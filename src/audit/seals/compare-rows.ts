/** Compares rows with the seal that covers them: which were changed, which were added, how many are gone. */
import { masked } from '../../contract/masking/masking.ts';
import type { Pool } from '../../db/pool.ts';
import { SOURCES, type SourceName } from '../../db/sealed-rows.ts';
import { type Entry, readEntry } from './entry.ts';
import { LeafList, type Leaves } from './leaves.ts';
import { countOf, HASH_BYTES, hashAt, levelAbove, rootOf } from './tree/merkle.ts';
import { readEntries, type Sight, within } from './rows.ts';
import type { Seal } from './seal-log.ts';

const NAMED = 100;

export interface VerifyFinding {
  readonly tipo: (typeof FINDINGS)[number];
  readonly selo: number | null;
  readonly tabela: string | null;
  /** The keys that an auditor asks by: the event, the delivery and the attempt, the webhook. */
  readonly linha: string | null;
  /** Of a row that is compared with another one those that differ; of a sealed row none, because a leaf does not tell. */
  readonly colunas: readonly string[];
  readonly detalhe: string;
}

const FINDINGS = [
  'tabela_trocada',
  'selo_ausente',
  'selo_alterado',
  'linha_alterada',
  'linha_acrescentada',
  'linhas_removidas',
  'lote_alterado',
  'arvore_alterada',
  'ramificacao',
  'linhas_sem_selo',
  'linha_fora_dos_selos',
  'epoca_inexistente',
  'apagado_sem_pedido',
  'restante_alterado',
  'apagamento_incompleto',
  'definicao_alterada',
  'hora_fora_do_selo',
  'estado_divergente',
  'status_divergente',
  'assinatura_invalida',
  'arquivo_alterado',
] as const;

export function ofSeal(
  tipo: VerifyFinding['tipo'],
  selo: number | null,
  detalhe: string,
  tabela: string | null = null,
  linha: string | null = null,
  colunas: readonly string[] = [],
): VerifyFinding {
  return { tipo, selo, tabela, linha, colunas, detalhe };
}

export function wrongTree(selo: number | null): VerifyFinding {
  return ofSeal(
    'arvore_alterada',
    selo,
    'the hashes that proofs are made of were changed; the rows are those that were sealed',
  );
}

/** Which rows differ from those that were sealed, by the tree that is kept beside the seal. */
export async function compareRows(pool: Pool, seal: Seal, found: Leaves, sight: Sight): Promise<VerifyFinding[]> {
  const [kept] = await pool.run(
    (sql) => sql<{ leaves: Buffer }[]>`select leaves from seal_trees where number = ${seal.number}`,
  );
  const isOfSeal =
    kept !== undefined && countOf(kept.leaves) === seal.rows && rootOf(levelAbove(kept.leaves)).equals(seal.root);
  if (!isOfSeal) {
    const detalhe = `its ${seal.rows} rows are not those that were sealed, of which ${found.rows} are there; the list of their leaves was changed, too`;
    return [ofSeal('lote_alterado', seal.number, detalhe)];
  }
  const sealed = new Set(
    Array.from({ length: seal.rows }, (_, index) => hashAt(kept.leaves, index).toString('latin1')),
  );
  const unexpected: string[] = [];
  for (let index = 0; index < found.rows; index += 1) {
    const leaf = hashAt(found.hashes, index).toString('latin1');
    if (!sealed.delete(leaf)) unexpected.push(leaf);
  }
  const again = await readAgain(pool, seal, new Set(unexpected.slice(0, NAMED)), sight);
  const changed = Math.min(unexpected.length, sealed.size);
  const findings = unexpected.slice(0, NAMED).map((leaf, ordinal) => {
    const entry = again.get(leaf) ?? null;
    const row = entry && nameOf(entry.source, entry.fields);
    return ordinal < changed
      ? ofSeal('linha_alterada', seal.number, 'the row was changed after it was sealed', entry?.source, row)
      : ofSeal('linha_acrescentada', seal.number, 'the row was added below the seal', entry?.source, row);
  });
  const rest = unexpected.length - findings.length;
  if (rest > 0) findings.push(ofSeal('lote_alterado', seal.number, `${rest} more rows were changed or added`));
  const removed = sealed.size - changed;
  if (removed > 0) {
    findings.push(ofSeal('linhas_removidas', seal.number, `${removed} of its ${seal.rows} rows were removed`));
  }
  return findings;
}

async function readAgain(pool: Pool, seal: Seal, leaves: ReadonlySet<string>, sight: Sight) {
  const entries = new Map<string, Entry | null>();
  const list = new LeafList((hashes, leafAt, bytes, entryAt, end) => {
    const leaf = hashes.toString('latin1', leafAt, leafAt + HASH_BYTES);
    if (leaves.has(leaf)) entries.set(leaf, readEntry(bytes.subarray(entryAt, end)));
  });
  await pool.run((sql) => readEntries(sql, within(seal), sight, list.add));
  return entries;
}

/** The keys that an auditor asks by; of a read of CPFs, the name without a CPF. */
export function nameOf(source: SourceName, fields: Readonly<Record<string, unknown>>): string {
  const more =
    source === 'attempts' ? [fields['number'], fields['late'] === true ? 'late' : null] : [fields['position']];
  const parts = [fields[SOURCES[source].subject], ...more] as (string | number | null)[];
  return masked(parts.filter((part) => part !== null).join('/'));
}
