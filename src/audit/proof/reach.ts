/** What hangs on a proof's checkpoint: seals that lead to its root, and rows that lead to such a seal's root. */
import { isDeepStrictEqual } from 'node:util';
import type { Proof, ProvedRow } from '../../contract/resources/audit-resource.ts';
import { type Checkpoint, openCheckpoint, readCheckpointText } from '../checkpoint/checkpoint.ts';
import type { Verifier } from '../checkpoint/note.ts';
import { readEntry } from '../seals/entry.ts';
import { leafHash, rootByInclusion } from '../seals/tree/merkle.ts';

export type Rows = ReadonlyMap<ProvedRow, string>;

export type Fields = ProvedRow['campos'];

interface SealRoot {
  readonly rows: number;
  readonly root: Buffer;
  readonly sealedAt: string;
}

/** What hangs on the file's checkpoint, and the first thing that should and does not. */
export interface Reached {
  readonly head: Checkpoint | null;
  readonly isSigned: boolean;
  readonly seals: ReadonlyMap<number, SealRoot>;
  readonly rows: ReadonlySet<ProvedRow>;
  /** Of reached rows what was sealed; of others what the file says. */
  readonly fields: ReadonlyMap<ProvedRow, Fields>;
  readonly fault: string | null;
}

export type FieldsOf = (row: ProvedRow) => Fields;

/** The pass: from the checkpoint to its seals, from those to their rows. */
export function reach(file: Proof, rows: Rows, keys: readonly Verifier[]): Reached {
  const signed = file.checkpoint === null ? null : openCheckpoint(file.checkpoint, keys);
  const head = signed ?? (file.checkpoint === null ? null : readCheckpointText(file.checkpoint));
  const seals = new Map<number, SealRoot>();
  const [reached, fields] = [new Set<ProvedRow>(), new Map<ProvedRow, Fields>()];
  const fault = reachSeals(file, head, seals) ?? reachRows(file, rows, seals, reached, fields);
  return { head, isSigned: signed !== null, seals, rows: reached, fields, fault };
}

const SEAL =
  /^carteiro\/selo\/1\n([1-9]\d{0,14})\n\d+ \d+ \d+ \d+\n([1-9]\d{0,9})\n([A-Za-z0-9+/]{43}=)\n(\d{4}-\d\d-\d\dT[\d:.]{12}Z)\n(?:[A-Za-z0-9+/]{43}=\n)?$/;

/** Leads each seal to the head, into `seals`; returns why one does not lead there. A seal above the head has no way. */
function reachSeals({ selos }: Proof, head: Checkpoint | null, seals: Map<number, SealRoot>): string | null {
  const common = selos[0]?.caminho ?? [];
  let last = 0;
  for (const { numero, entrada, caminho, iguais } of selos) {
    const [, number, rows, root = '', sealedAt = ''] = SEAL.exec(entrada) ?? [];
    if (Number(number) !== numero) return `seal ${numero} is no seal`;
    if (numero <= last) return `seal ${numero} stands twice, or behind a later one`;
    last = numero;
    if (caminho === null) {
      if (iguais !== 0) return `seal ${numero} has a part of a way`;
      continue;
    }
    const path = [...caminho, ...common.slice(Math.max(common.length - iguais, 0))].map(bytesOf);
    const found = head && rootByInclusion(leafHash(Buffer.from(entrada)), numero - 1, head.size, path);
    if (head === null || found?.equals(head.root) !== true) return `seal ${numero} does not lead to the checkpoint`;
    seals.set(numero, { rows: Number(rows), root: bytesOf(root), sealedAt });
  }
  return null;
}

/** Leads each row to a reached seal, into `reached` and `fields`; returns why one does not lead there, or is not what it says. */
function reachRows(
  { selos, retido }: Proof,
  rows: Rows,
  seals: ReadonlyMap<number, SealRoot>,
  reached: Set<ProvedRow>,
  fields: Map<ProvedRow, Fields>,
): string | null {
  const named = new Set(selos.map(({ numero }) => numero));
  const used = new Set<number | null>();
  for (const [row, name] of rows) {
    const { tabela, campos, entrada, selo, indice, caminho, resposta, sal } = row;
    used.add(selo);
    if (selo === null ? indice !== undefined || caminho !== undefined : !named.has(selo))
      return `${name}: seal ${selo} is not in the file`;
    if (tabela !== 'attempts' && (resposta !== undefined || sal !== undefined)) return `${name}: has an answer`;
    if (entrada === null) {
      if (retido === null) return `${name}: its entry is missing`;
      fields.set(row, campos);
      continue;
    }
    const bytes = bytesOf(entrada);
    const seal = selo === null ? undefined : seals.get(selo);
    if (seal !== undefined) {
      const root = rootByInclusion(leafHash(bytes), indice ?? seal.rows, seal.rows, (caminho ?? []).map(bytesOf));
      if (root?.equals(seal.root) !== true)
        return `${name}: a row does not lead to seal ${selo}: it is not one of those that were sealed`;
      reached.add(row);
    }
    const entry = readEntry(bytes);
    if (entry?.source !== tabela) return `${name}: an entry is no row of its table`;
    if (!isDeepStrictEqual(entry.fields, campos)) return `${name}.campos: says something else than its entry`;
    fields.set(row, entry.fields);
  }
  const unused = selos.find(({ numero }) => !used.has(numero));
  return unused === undefined ? null : `no row is in seal ${unused.numero}`;
}

export function bytesOf(base64: string): Buffer {
  return Buffer.from(base64, 'base64');
}
