/**
 * The chain's arithmetic, without a database: how a seal's hash is made, and how a seal is linked to the seal before.
 *
 * leaf   = SHA-256 of a row's bytes (drizzle/, `sealable_rows`; leaf.ts)
 * digest = one hash over the batch's leaves (batch.ts)
 * hash   = SHA-256 of the seal's own fields with the digest and the hash before
 */
import { createHash } from 'node:crypto';

/** A point in the log: transactions count within their epoch. */
export interface LogPoint {
  readonly epoch: number;
  readonly tx: number;
}

/** One seal: every sealable row whose (epoch, transaction) is at least (`firstEpoch`, `firstTx`) and below the end. */
export interface Seal {
  readonly number: number;
  readonly firstEpoch: number;
  readonly firstTx: number;
  readonly endEpoch: number;
  readonly endTx: number;
  readonly rows: number;
  readonly digest: Buffer;
  /** The hash of the seal before; {@link NO_HASH} for the first. */
  readonly previous: Buffer;
  readonly hash: Buffer;
  readonly sealedAt: Date;
}

/** The newest seal, to be stored where nobody who writes to the database can write. */
export type Head = Pick<Seal, 'number' | 'hash'>;

export const NO_HASH = Buffer.alloc(32);

export function hashOf(seal: Omit<Seal, 'hash'>): Buffer {
  const { number, firstEpoch, firstTx, endEpoch, endTx, rows, digest, previous, sealedAt } = seal;
  const span = [firstEpoch, firstTx, endEpoch, endTx];
  const digests = [digest.toString('hex'), previous.toString('hex')];
  return createHash('sha256')
    .update(['carteiro-selo-1', number, ...span, rows, ...digests, sealedAt.toISOString()].join('\n'))
    .digest();
}

/** The fault between `seal` and the seal `before` (null for the first seal); null when they fit. */
export function brokenLink(before: Seal | null, seal: Seal): string | null {
  const expected = linkAfter(before);
  if (seal.number !== expected.number) return `seal ${expected.number} is missing`;
  const follows = seal.firstEpoch === expected.firstEpoch && seal.firstTx === expected.firstTx;
  if (!follows) return 'it does not begin where the seal before it ends';
  if (!seal.previous.equals(expected.previous)) return 'it does not continue the seal before it';
  return hashOf(seal).equals(seal.hash) ? null : 'its own fields were changed';
}

function linkAfter(before: Seal | null): Pick<Seal, 'number' | 'firstEpoch' | 'firstTx' | 'previous'> {
  if (before === null) return { number: 1, firstEpoch: 0, firstTx: 0, previous: NO_HASH };
  const { number, endEpoch, endTx, hash } = before;
  return { number: number + 1, firstEpoch: endEpoch, firstTx: endTx, previous: hash };
}

/** Chains `batch` behind `before`. */
export function chain(
  before: Seal | null,
  batch: Pick<Seal, 'endEpoch' | 'endTx' | 'rows' | 'digest'>,
  sealedAt: Date,
): Seal {
  const fields = { ...linkAfter(before), ...batch, sealedAt };
  return { ...fields, hash: hashOf(fields) };
}

/** A head as `audit head` prints it: `12:9f3c…`. */
export function writeHead({ number, hash }: Head): string {
  return `${number}:${hash.toString('hex')}`;
}

/** Null when the text is not a head. */
export function readHead(text: string): Head | null {
  const [, number, hash] = /^([1-9]\d{0,14}):([0-9a-f]{64})$/.exec(text) ?? [];
  return number === undefined || hash === undefined ? null : { number: Number(number), hash: Buffer.from(hash, 'hex') };
}
