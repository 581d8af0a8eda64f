/** Cosignatures of witnesses, version 1 with Ed25519, as C2SP tlog-cosignature has them. Pure. */
import { verify } from 'node:crypto';
import { readVerifier, type Verifier } from './note.ts';

const COSIGNATURE = 4;
const TIME_BYTES = 8;

/** A witness's public key, `name+hash+key`; null when the text is none. */
export function readWitnessKey(text: string): Verifier | null {
  return readVerifier(text, COSIGNATURE);
}

/** The bytes that a witness signs at `timeS`, in seconds since 1970, for a checkpoint's text. */
export function cosignedText(text: string, timeS: number): Buffer {
  return Buffer.from(`cosignature/v1\ntime ${timeS}\n${text}`);
}

/** When the witness cosigned the note's text; null when none of `lines` is its cosignature. Other lines are passed over. */
export function openCosignature(note: string, lines: string, witness: Verifier): Date | null {
  const text = note.slice(0, note.lastIndexOf('\n\n') + 1);
  for (const [, name, base64 = ''] of lines.matchAll(/^— ([^\s+]+) ([A-Za-z0-9+/]+=*)$/gm)) {
    const bytes = Buffer.from(base64, 'base64');
    if (name !== witness.name || !bytes.subarray(0, 4).equals(witness.keyId)) continue;
    if (bytes.length !== 4 + TIME_BYTES + 64) continue;
    const timeS = Number(bytes.readBigUInt64BE(4));
    const isSigned = verify(null, cosignedText(text, timeS), witness.key, bytes.subarray(4 + TIME_BYTES));
    if (isSigned && timeS <= 8_640_000_000_000) return new Date(timeS * 1_000);
  }
  return null;
}
