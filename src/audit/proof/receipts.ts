/** The receipts of anchors: read for a proof, and checked from its file without a database. */
import type { Proof } from '../../contract/resources/audit-resource.ts';
import type { AnchorKind } from '../../contract/statuses.ts';
import type { Tx } from '../../db/pool.ts';
import { type Checkpoint, openCheckpoint } from '../checkpoint/checkpoint.ts';
import { openCosignature } from '../checkpoint/cosignature.ts';
import type { Verifier } from '../checkpoint/note.ts';
import type { StoredCheckpoint } from '../checkpoint/stored.ts';
import { consistencyPath, isConsistent } from '../seals/tree/merkle.ts';
import { readLogHashes, unlessLacking } from '../seals/seal-log.ts';
import { readProofFile } from './proof-file.ts';

/** Of each place the first receipt that covers seals up to `last`, with the way between its checkpoint and the proof's. */
export async function readReceipts(tx: Tx, last: number, checkpoint: StoredCheckpoint): Promise<Proof['ancoras']> {
  const rows = await tx<{ kind: AnchorKind; place: string; size: number; receipt: Buffer; note: string; at: Date }[]>`
    select distinct on (kind, place) kind, place, size::float8 as size, receipt, note, anchored_at as at
    from anchor_receipts join checkpoints using (size)
    where size >= ${last} order by kind, place, size`;
  const read = readLogHashes(tx);
  const receipts: Proof['ancoras'] = [];
  for (const { kind, place, size, receipt, note, at } of rows) {
    const [old, grown] = [Math.min(size, checkpoint.size), Math.max(size, checkpoint.size)];
    const path = await unlessLacking(consistencyPath(read, old, grown));
    receipts.push({
      tipo: kind,
      // The directory's path is not shown; the name of the file is the receipt.
      onde: kind === 'arquivo' ? receipt.toString() : place,
      checkpoint: note,
      recibo: receipt.toString('base64'),
      ancorada_em: at.toISOString(),
      caminho: path?.map((hash) => hash.toString('base64')) ?? null,
    });
  }
  return receipts;
}

export interface TrustedPlaces {
  readonly keys: readonly Verifier[];
  /** Certificates in PEM that a time stamp's chain must lead to; null: none was given. */
  readonly roots: string | null;
  readonly witnesses: readonly Verifier[];
  /** A copy that was fetched from a place. */
  readonly kept: Checkpoint | null;
}

export interface CheckedReceipt {
  readonly tipo: AnchorKind;
  readonly onde: string;
  /** Seals that the receipt covers. */
  readonly tamanho: number | null;
  /** When the place says that it had them; null if it does not say, or was not checked. */
  readonly em: string | null;
  readonly confere: boolean | null;
  readonly motivo: string | null;
}

/** Checks each receipt in the text of a proof's file; nothing where the text is no proof. */
export async function checkReceipts(text: string, trusted: TrustedPlaces): Promise<CheckedReceipt[]> {
  const read = readProofFile(text);
  if ('reason' in read) return [];
  const data = read.file;
  return Promise.all(
    data.ancoras.map(async (receipt) => {
      const { tipo, onde } = receipt;
      const head = openCheckpoint(receipt.checkpoint, trusted.keys);
      const found = wrongHead(data, receipt, head, trusted) ?? (await checkPlace(receipt, head, trusted));
      return Object.assign({ tipo, onde, tamanho: head?.size ?? null }, found);
    }),
  );
}

type Found = Pick<CheckedReceipt, 'em' | 'confere' | 'motivo'>;
const right = (em: Date | null): Found => ({ em: em?.toISOString() ?? null, confere: true, motivo: null });
const open = (motivo: string): Found => ({ em: null, confere: null, motivo });
const wrong = (motivo: string): Found => ({ em: null, confere: false, motivo });

/** The receipt's checkpoint must be of the log that the proof rests on. */
function wrongHead(
  { checkpoint, selos }: Proof,
  receipt: Proof['ancoras'][number],
  head: Checkpoint | null,
  { keys }: TrustedPlaces,
): Found | null {
  if (keys.length === 0) return open('no key was given: give the log’s public key with --key');
  if (head === null) return wrong('its checkpoint is not signed by a key that was given');
  const own = checkpoint === null ? null : openCheckpoint(checkpoint, keys);
  if (own === null || receipt.caminho === null)
    return open('the way between its checkpoint and the proof’s is missing');
  const [old, grown] = own.size < head.size ? [own, head] : [head, own];
  const path = receipt.caminho.map((hash) => Buffer.from(hash, 'base64'));
  if (!isConsistent(old, grown, path)) return wrong('its checkpoint is of another log than the proof’s: it forked');
  return selos.every(({ numero }) => numero <= head.size) ? null : open('it covers a part of the rows alone');
}

async function checkPlace(
  { tipo, onde, checkpoint, recibo }: Proof['ancoras'][number],
  head: Checkpoint | null,
  { roots, witnesses, kept }: TrustedPlaces,
): Promise<Found> {
  const receipt = Buffer.from(recibo, 'base64');
  if (tipo === 'carimbo_de_tempo') {
    const { readStamp } = await import('../anchor/timestamp.ts');
    const stamp = await readStamp(receipt, checkpoint, roots);
    if ('wrong' in stamp) return wrong(`the time stamp does not verify: ${stamp.wrong}`);
    return stamp.isTrusted ? right(stamp.at) : open('no certificate to trust was given: --tsa-ca');
  }
  if (tipo === 'testemunha') {
    const witness = witnesses.find(({ name }) => name === onde);
    if (witness === undefined) return open('its key was not given: --witness');
    const at = openCosignature(checkpoint, receipt.toString(), witness);
    return at === null ? wrong('the witness has not cosigned it') : right(at);
  }
  const isSame = kept !== null && head !== null && kept.size === head.size && kept.root.equals(head.root);
  return isSame ? right(null) : open('compare it with the copy that lies there: give that as --checkpoint');
}
