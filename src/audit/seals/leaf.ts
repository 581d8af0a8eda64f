/**
 * A row's leaf, computed from its line, field for field as `sealable_rows` (drizzle/) computes it in the server.
 *
 * Rows of the hot tables are hashed as packed bytes. We tried a JSON line for each: it cost three times as much as the rest of
 * sealing. A length precedes each text, so that no two rows have the same bytes; the first byte names the table. Lines of other
 * tables are hashed as they are, and begin with `[`.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';

const text = z.string();
const uuid = z.uuid();
const int = z.int32();
const count = z.int();
const hex = z.string().regex(/^([0-9a-f]{2})*$/);
const tx = z.string().regex(/^\d{1,18}$/);
const epoch = z.int().min(0).max(0x7fff);

const attemptLine = z.tuple([
  z.literal('attempts'),
  uuid,
  int,
  z.boolean(),
  uuid,
  uuid,
  text,
  z.int().min(0).max(0x7fff).nullable(),
  count,
  int.nullable(),
  text,
  text.nullable(),
  text.nullable(),
  text,
  text.nullable(),
  hex.nullable(),
  count,
  tx,
  epoch,
]);
const messagePart = z.tuple([hex, text, uuid, int, int.nullable(), text]);
const eventLine = z.tuple([
  z.literal('events'),
  count,
  uuid,
  uuid,
  int,
  text,
  text,
  uuid,
  text,
  count,
  text,
  uuid.nullable(),
  tx,
  messagePart.nullable(),
  epoch,
]);

/** Null when the text is not a row's line. */
export function leafOf(line: string): Buffer | null {
  const bytes = bytesOf(line);
  return bytes === null ? null : createHash('sha256').update(bytes).digest();
}

function bytesOf(line: string): Buffer | string | null {
  if (line.startsWith('["attempts"')) return attemptBytes(parse(line));
  if (line.startsWith('["events"')) return eventBytes(parse(line));
  return line.startsWith('["') ? line : null;
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

function attemptBytes(fields: unknown): Buffer | null {
  const parsed = attemptLine.safeParse(fields);
  if (!parsed.success) return null;
  const [, delivery, number, late, webhook, partner, outcome, status, ...rest] = parsed.data;
  const [startedMs, durationMs, url, address, keyId, claim, error, answer, recordedMs, txid, inEpoch] = rest;
  return Buffer.concat([
    pair((1 << 24) | (Number(late) << 16) | (status ?? 0), number),
    pair(lengthOf(url), lengthOf(address)),
    pair(lengthOf(claim), lengthOf(keyId)),
    pair(lengthOf(error), durationMs ?? -1),
    ...[delivery, webhook, partner].map(uuidBytes),
    instant(startedMs),
    instant(recordedMs),
    long(BigInt(txid)),
    short(inEpoch),
    Buffer.from([outcome, url, address, keyId, claim, error].map((part) => part ?? '').join('')),
    Buffer.from(answer ?? '', 'hex'),
  ]);
}

function eventBytes(fields: unknown): Buffer | null {
  const parsed = eventLine.safeParse(fields);
  if (!parsed.success) return null;
  const [, position, id, stream, version, type, family, partner, data, occurredMs, ...rest] = parsed.data;
  const [actor, request, txid, message, inEpoch] = rest;
  return Buffer.concat([
    pair((2 << 24) | (Number(request !== null) << 16), version),
    pair(lengthOf(type), lengthOf(family)),
    pair(lengthOf(actor), lengthOf(data)),
    ...[id, stream, partner].map(uuidBytes),
    long(BigInt(position)),
    instant(occurredMs),
    long(BigInt(txid)),
    short(inEpoch),
    Buffer.from(type + family + actor + data),
    request === null ? Buffer.alloc(0) : uuidBytes(request),
    message === null ? Buffer.alloc(0) : messageBytes(message),
  ]);
}

function messageBytes([bodyDigest, type, partner, fanOut, loanVersion, snapshot]: z.infer<typeof messagePart>): Buffer {
  return Buffer.concat([
    pair(fanOut, loanVersion ?? -1),
    uuidBytes(partner),
    Buffer.from(bodyDigest, 'hex'),
    Buffer.from(`${type} ${snapshot}`),
  ]);
}

/** Two signed 32-bit numbers, the higher one first. */
function pair(high: number, low: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeInt32BE(high, 0);
  bytes.writeInt32BE(low, 4);
  return bytes;
}

function short(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

function long(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(value);
  return bytes;
}

/** PostgreSQL counts microseconds from the year 2000. */
function instant(ms: number): Buffer {
  return long(BigInt(ms - Date.UTC(2000, 0, 1)) * 1_000n);
}

function uuidBytes(id: string): Buffer {
  return Buffer.from(id.replaceAll('-', ''), 'hex');
}

/** In bytes; -1 for null. */
function lengthOf(part: string | null): number {
  return part === null ? -1 : Buffer.byteLength(part);
}
