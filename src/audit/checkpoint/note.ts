/** Signed notes (C2SP signed-note, golang.org/x/mod/sumdb/note) with Ed25519 keys. Pure. */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';

const ED25519 = 1;
const SEED_BYTES = 32;
const SIGNATURE_BYTES = 64;
/** The bytes before the 32 bytes of a key in its DER form. */
const PRIVATE_DER = Buffer.from('302e020100300506032b657004220420', 'hex');
const PUBLIC_DER = Buffer.from('302a300506032b6570032100', 'hex');

/** In text: `name+hash+key`. */
export interface Verifier {
  readonly name: string;
  readonly keyId: Buffer;
  readonly key: KeyObject;
  readonly text: string;
}

export interface Signer extends Verifier {
  readonly secret: KeyObject;
}

/** A new key in the form that its file holds: `PRIVATE+KEY+name+hash+key`. */
export function makeKey(name: string): string {
  const { privateKey } = generateKeyPairSync('ed25519');
  const seed = privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(PRIVATE_DER.length);
  const { keyId } = verifierOf(name, publicOf(privateKey));
  return `PRIVATE+KEY+${name}+${keyId.toString('hex')}+${Buffer.concat([Buffer.of(ED25519), seed]).toString('base64')}`;
}

function publicOf(secret: KeyObject): Buffer {
  return createPublicKey(secret).export({ format: 'der', type: 'spki' }).subarray(PUBLIC_DER.length);
}

function verifierOf(name: string, bytes: Buffer, type = ED25519): Verifier {
  const typed = Buffer.concat([Buffer.of(type), bytes]);
  const keyId = createHash('sha256').update(`${name}\n`).update(typed).digest().subarray(0, 4);
  const key = createPublicKey({ key: Buffer.concat([PUBLIC_DER, bytes]), format: 'der', type: 'spki' });
  return { name, keyId, key, text: `${name}+${keyId.toString('hex')}+${typed.toString('base64')}` };
}

export function readSigner(text: string): Signer | null {
  const [, name, hash, base64] = /^PRIVATE\+KEY\+([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/.exec(text.trim()) ?? [];
  const typed = Buffer.from(base64 ?? '', 'base64');
  if (name === undefined || typed.length !== 1 + SEED_BYTES || typed[0] !== ED25519) return null;
  const secret = createPrivateKey({
    key: Buffer.concat([PRIVATE_DER, typed.subarray(1)]),
    format: 'der',
    type: 'pkcs8',
  });
  const verifier = verifierOf(name, publicOf(secret));
  return verifier.keyId.toString('hex') === hash ? { ...verifier, secret } : null;
}

/** Null when the text is no such key; `type` is the kind of signature, a note's own unless it is given. */
export function readVerifier(text: string, type = ED25519): Verifier | null {
  const [, name, hash, base64] = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/.exec(text.trim()) ?? [];
  const typed = Buffer.from(base64 ?? '', 'base64');
  if (name === undefined || typed.length !== 1 + SEED_BYTES || typed[0] !== type) return null;
  const verifier = verifierOf(name, typed.subarray(1), type);
  return verifier.keyId.toString('hex') === hash ? verifier : null;
}

export function signersOf(keys: readonly Verifier[]): Signer[] {
  return keys.filter((key): key is Signer => 'secret' in key);
}

/** The base64 of a signature line: the key's id, and the signature. */
function signatureOf(text: string, { keyId, secret }: Signer): string {
  return Buffer.concat([keyId, sign(null, Buffer.from(text), secret)]).toString('base64');
}

/** A note of this text, which ends with a line break, signed by each of `signers`. */
export function signNote(text: string, signers: readonly Signer[]): string {
  return `${text}\n${signers.map((signer) => `— ${signer.name} ${signatureOf(text, signer)}\n`).join('')}`;
}

/** The note's text, and which of `verifiers` signed it; null when it is no note. Signatures of unknown keys are passed over. */
export function openNote(note: string, verifiers: readonly Verifier[]): { text: string; signedBy: Verifier[] } | null {
  const end = note.lastIndexOf('\n\n');
  if (end < 0 || !note.endsWith('\n')) return null;
  const text = note.slice(0, end + 1);
  const lines = note.slice(end + 2, -1).split('\n');
  const signatures = lines.map((line) => /^— ([^\s+]+) ([A-Za-z0-9+/]+=*)$/.exec(line));
  if (signatures.includes(null)) return null;
  const signedBy = verifiers.filter((verifier) =>
    signatures.some((found) => found?.[1] === verifier.name && isSignature(text, found[2] ?? '', verifier)),
  );
  return { text, signedBy };
}

export function isSignature(text: string, base64: string, { keyId, key }: Verifier): boolean {
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length !== 4 + SIGNATURE_BYTES || !bytes.subarray(0, 4).equals(keyId)) return false;
  return verify(null, Buffer.from(text), key, bytes.subarray(4));
}
