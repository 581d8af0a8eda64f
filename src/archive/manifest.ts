/** A month's manifest: its seals, each file with rows and digest. `archive_acts` has its SHA-256; the log's keys sign it. */
import { z } from 'zod';
import { type Signer, signNote } from '../audit/checkpoint/note.ts';
import { sha256 } from '../audit/seals/tree/merkle.ts';
import type { MonthAct } from './acts.ts';
import { ArchiveFault } from './archive-fault.ts';
import type { Place } from './place.ts';
import { TABLE_NAMES, type TableFile } from './table-file.ts';

const digest = z.string().regex(/^[0-9a-f]{64}$/);
const count = z.int().nonnegative();
const seals = z.object({ de: count, ate: count });

const file = z.object({
  nome: z.string(),
  tabela: z.enum(TABLE_NAMES),
  linhas: count,
  bytes: count,
  sha256: digest,
  /** The lowest and the highest id in it, in hexadecimal; empty for a table without. */
  de: z.string(),
  ate: z.string(),
  /** When its first and its last attempt were recorded. */
  registradas: z.object({ de: z.iso.datetime().nullable(), ate: z.iso.datetime().nullable() }),
});
export type ArchivedFile = z.output<typeof file>;

export type Keys = ReadonlySet<string>;

/** False where no id that is one of these, or begins so, is in the file. */
export function mayHold({ de, ate }: ArchivedFile, keys: Keys): boolean {
  return keys.values().some((key) => de.slice(0, key.length) <= key && key <= ate);
}

const part = z.object({ selos: seals, arquivos: z.array(file) });
export type Part = z.output<typeof part>;

const manifest = z.object({
  formato: z.literal('carteiro/arquivo/1'),
  mes: z.string(),
  selos: seals.extend({ linhas: count }),
  gerado_em: z.iso.datetime(),
  /** Why the month was written again; null the first time. */
  motivo: z.string().nullable(),
  partes: z.array(part),
  /** A signed note; null where nothing signs. */
  assinatura: z.string().nullable(),
});
export type Manifest = z.output<typeof manifest>;

/** The signed text: one line each. */
function signedText({ formato, mes, selos, gerado_em: at, motivo, partes }: Omit<Manifest, 'assinatura'>): string {
  return [
    formato,
    mes,
    `${selos.de} ${selos.ate}`,
    sha256(Buffer.from(JSON.stringify(partes))).toString('hex'),
    at,
    motivo ?? '',
    '',
  ].join('\n');
}

/** An act's seal of the month's deliveries: SHA-256 of the digests of their files. An erasure does not change these. */
export function digestOfDeliveries({ partes }: Pick<Manifest, 'partes'>): Buffer {
  const files = partes.flatMap(({ arquivos }) => arquivos.filter(({ tabela }) => tabela === 'deliveries'));
  return sha256(Buffer.from(files.map((one) => one.sha256).join('')));
}

export async function writeManifest(
  place: Place,
  unsigned: Omit<Manifest, 'assinatura'>,
  signers: readonly Signer[],
): Promise<Buffer> {
  const assinatura = signers.length === 0 ? null : signNote(signedText(unsigned), signers);
  const bytes = Buffer.from(`${JSON.stringify({ ...unsigned, assinatura }, null, 1)}\n`);
  const digest = sha256(bytes);
  await place.write(manifestName(unsigned.mes, digest), bytes);
  return digest;
}

export async function writeFile(
  place: Place,
  month: string,
  number: number,
  { table, rows, ids, times, bytes }: TableFile,
): Promise<ArchivedFile> {
  const digestOfFile = sha256(bytes).toString('hex');
  const nome = `${month}/${table}-${String(number).padStart(5, '0')}-${digestOfFile.slice(0, 8)}.parquet`;
  await place.write(nome, bytes);
  return { nome, tabela: table, linhas: rows, bytes: bytes.length, sha256: digestOfFile, ...ids, registradas: times };
}

export function manifestName(month: string, digest: Buffer): string {
  return `${month}/manifesto-${digest.toString('hex', 0, 4)}.json`;
}

/** Some 0.5 KiB a file, three files for 65,536 rows. */
export const MAX_MANIFEST = 256 * 1_024 * 1_024;

/** Throws {@link ArchiveFault} where it cannot be read, or is another than the act's. */
export async function readManifest(
  place: Place,
  { month, manifest: expected, firstSeal, lastSeal, deliveries }: MonthAct,
): Promise<Manifest> {
  const name = manifestName(month, expected);
  const bytes = await place.read(name, MAX_MANIFEST);
  if (!sha256(bytes).equals(expected))
    throw new ArchiveFault(`${place.name}/${name} was altered: its SHA-256 is another`);
  const found = parsed(`${place.name}/${name}`, bytes);
  if (!digestOfDeliveries(found).equals(deliveries))
    throw new ArchiveFault(`the manifest of ${month} has other deliveries than its act`);
  let next = firstSeal;
  for (const { selos } of found.partes) {
    if (selos.de !== next || selos.ate < next) throw new ArchiveFault(`the manifest of ${month} lacks seal ${next}`);
    next = selos.ate + 1;
  }
  if (found.mes !== month || next !== lastSeal + 1)
    throw new ArchiveFault(`the manifest of ${month} has other seals than its act, or is of ${found.mes}`);
  return found;
}

function parsed(name: string, bytes: Buffer): Manifest {
  try {
    return manifest.parse(JSON.parse(bytes.toString()));
  } catch (cause) {
    throw new ArchiveFault(`${name} is no manifest`, { cause });
  }
}

/** The file's bytes. Throws {@link ArchiveFault} if they differ from the manifest. */
export async function readFile(place: Place, { nome, bytes, sha256: expected }: ArchivedFile): Promise<Buffer> {
  const found = await place.read(nome, bytes);
  if (sha256(found).toString('hex') !== expected) {
    const how = found.length === bytes ? 'its SHA-256 is another' : `it has ${found.length} bytes of ${bytes}`;
    throw new ArchiveFault(`${place.name}/${nome} was altered: ${how}`);
  }
  return found;
}
