/**
 * The export of one kind of rows as a file, oldest first, one page of rows in memory at a time.
 * Invariant: its pages are one consistent whole, because rows are append-only and the export ends at the transactions that were
 * settled when it began. Alternative: a server-side cursor holds a snapshot for as long as the slowest client reads.
 * The manifest (number of rows, digest of their bytes) is known only at the end. NDJSON has it as its last line; for a CSV,
 * X-Carteiro-Manifesto names a path that reads the same rows again, up to the same transaction. Alternative: HTTP's trailers, which
 * most proxies drop. A fault on the way ends the connection.
 */
import { createHash } from 'node:crypto';
import { type Signer, signNote } from '../checkpoint/note.ts';
import { readCheckpoint } from '../checkpoint/stored.ts';
import type { ExportManifest } from '../../contract/resources/audit-resource.ts';
import type { Result } from '../../contract/refusals.ts';
import type { Pool } from '../../db/pool.ts';
import { columnsOf, type Cut, type Kind, type Removed } from '../lists/kind.ts';
import type { Found, Search } from '../lists/list.ts';
import { readWithRemoved } from '../lists/removed.ts';
import { type Format, type FormatName, FORMATS, MARK, type MediaType } from './formats.ts';

const PAGE = 1_000;

interface Exported {
  readonly contentType: MediaType | `${MediaType};${string}`;
  readonly chunks: AsyncIterable<string>;
  readonly headers: { readonly 'Content-Disposition': string; readonly 'X-Carteiro-Manifesto': string };
}

/** A kind whose rows are only added. */
export type ExportedKind = Kind & Required<Pick<Kind, 'cut'>>;

export interface Export extends Search {
  readonly kind: ExportedKind;
  readonly name: string;
  readonly format: FormatName;
  readonly seesCpf: boolean;
  readonly asked: Readonly<Record<string, string>>;
  /** None: nothing is signed. */
  readonly signers?: readonly Signer[];
  /** A CSV begins with a byte-order mark. */
  readonly hasMark?: boolean;
  /** Go on behind this row of an export that ended at `cut`, without a head. */
  readonly goOn?: { readonly after: readonly string[]; readonly cut: string } | null;
  readonly pageSize?: number;
  readonly removed?: Removed | undefined;
}

/** Signs a manifest. Its text begins otherwise than a checkpoint's, so neither passes for the other. */
function signManifest(manifest: Omit<ExportManifest, 'assinatura'>, signers: readonly Signer[]): string | null {
  if (signers.length === 0) return null;
  const { linhas, sha256, gerado_em: at, filtros } = manifest;
  return signNote(['carteiro/manifesto/1', linhas, sha256, at, JSON.stringify(filtros), ''].join('\n'), signers);
}

interface Start {
  readonly cut: Cut;
  readonly at: Date;
  /** The newest, as a signed note. */
  readonly checkpoint: string | null;
}

async function readStart(pool: Pool, { cut }: ExportedKind): Promise<Start> {
  return pool.run(async (sql) => {
    const [{ at }] = await sql<[{ at: Date }]>`select clock_timestamp() as at`;
    return { cut: await cut.now(sql), at, checkpoint: (await readCheckpoint(sql))?.note ?? null };
  });
}

async function* pagesOf(pool: Pool, exported: Export, start: Start) {
  const { kind, format, filters, from, until, seesCpf, asked, signers = [], hasMark = false, goOn = null } = exported;
  const { head: headOf, line }: Format = FORMATS[format];
  const columns = columnsOf(kind);
  const head = goOn !== null ? '' : `${hasMark && format === 'csv' ? MARK : ''}${headOf(columns)}`;
  const hash = createHash('sha256').update(head);
  if (head !== '') yield head;
  let [count, after] = [0, goOn?.after ?? null];
  do {
    const page = { filters, from, until, after, limit: exported.pageSize ?? PAGE, order: 'oldest first' } as const;
    const { rows, next }: Found = await readWithRemoved(
      pool,
      kind,
      { ...page, cut: start.cut },
      seesCpf,
      exported.removed,
    );
    const chunk = rows.map((row) => line(row, columns)).join('');
    count += rows.length;
    hash.update(chunk);
    yield chunk;
    after = next;
  } while (after !== null);
  const manifest = {
    linhas: count,
    sha256: hash.digest('hex'),
    checkpoint: start.checkpoint,
    gerado_em: start.at.toISOString(),
    filtros: asked,
  };
  return { ...manifest, assinatura: signManifest(manifest, signers) } satisfies ExportManifest;
}

/** The form of an export's `corte`: an epoch and a transaction. */
export const CUT = /^\d{1,5}-\d{1,19}$/;

function writeCut({ epoch, tx }: Cut): string {
  return `${epoch}-${tx}`;
}

function readCut(cut: string): Cut {
  const [epoch = '', tx = ''] = cut.split('-');
  return { epoch: Number(epoch), tx };
}

function isAbove(one: Cut, other: Cut): boolean {
  return one.epoch > other.epoch || (one.epoch === other.epoch && BigInt(one.tx) > BigInt(other.tx));
}

/** Starts an export; `path` is that of its manifest. One that goes on (`goOn`) ends where the first did and has no manifest. */
export async function exportRows(pool: Pool, asked: Export, path: string): Promise<Result<Exported, 'cutNotSettled'>> {
  const { contentType, footer } = FORMATS[asked.format];
  const now = await readStart(pool, asked.kind);
  const { goOn = null } = asked;
  const start = goOn === null ? now : { ...now, cut: readCut(goOn.cut) };
  if (isAbove(start.cut, now.cut)) return { refused: { kind: 'cutNotSettled' } };
  async function* chunks(): AsyncGenerator<string> {
    const found = yield* pagesOf(pool, asked, start);
    if (footer !== null && goOn === null) yield footer(found);
  }
  const { depois: _, ...whole } = asked.asked;
  const again = new URLSearchParams({ ...whole, formato: asked.format, corte: writeCut(start.cut) });
  const headers = {
    'Content-Disposition': `attachment; filename="${asked.name}.${asked.format}"`,
    'X-Carteiro-Manifesto': `${path}?${again.toString()}`,
  };
  return { ok: { contentType, chunks: chunks(), headers } };
}

/** The JSON of an {@link ExportManifest}. Refused while transactions below the cut are open. Each page sends a line break. */
export async function writeManifest(
  pool: Pool,
  asked: Export,
  cut: string,
): Promise<Result<AsyncIterable<string>, 'cutNotSettled'>> {
  const start = await readStart(pool, asked.kind);
  const end = readCut(cut);
  if (isAbove(end, start.cut)) return { refused: { kind: 'cutNotSettled' } };
  async function* chunks(): AsyncGenerator<string> {
    const pages = pagesOf(pool, asked, { ...start, cut: end });
    let page = await pages.next();
    for (; !page.done; page = await pages.next()) yield '\n';
    yield JSON.stringify(page.value);
  }
  return { ok: chunks() };
}
