/** The log's signed head, as C2SP tlog-checkpoint writes it, and as a delivery's header carries it. Pure. */
import type { TreeHead } from '../seals/tree/merkle.ts';
import { isSignature, openNote, type Signer, signNote, type Verifier } from './note.ts';

/** A checkpoint's contents; `size` counts seals. */
export interface Checkpoint extends TreeHead {
  /** The log's name, which is also its keys'. */
  readonly origin: string;
}

function checkpointText({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${root.toString('base64')}\n`;
}

/** Null when the text is no checkpoint; lines behind the third are an extension, and are passed over. */
export function readCheckpointText(text: string): Checkpoint | null {
  const [, origin, size, root] = /^([^\n]+)\n(0|[1-9]\d{0,14})\n([A-Za-z0-9+/]{43}=)\n/.exec(text) ?? [];
  if (origin === undefined || root === undefined) return null;
  return { origin, size: Number(size), root: Buffer.from(root, 'base64') };
}

/** A checkpoint signed by all keys of the ring; its origin is the name of the first. */
export function signCheckpoint(head: TreeHead, signers: readonly [Signer, ...Signer[]]): string {
  return signNote(checkpointText({ origin: signers[0].name, ...head }), signers);
}

/** The checkpoint of a note that one of `verifiers` has signed; null when none has, or it is none. */
export function openCheckpoint(note: string, verifiers: readonly Verifier[]): Checkpoint | null {
  const opened = openNote(note, verifiers);
  return opened === null || opened.signedBy.length === 0 ? null : readCheckpointText(opened.text);
}

/** As the header `X-Carteiro-Checkpoint` has it: origin, size, root and the first signature, separated by spaces. */
export function checkpointHeader(note: string): string {
  const opened = openNote(note, []);
  const checkpoint = opened === null ? null : readCheckpointText(opened.text);
  const [, signature = ''] = /\n\n— \S+ (\S+)\n/.exec(note) ?? [];
  if (checkpoint === null) throw new Error('the note is no checkpoint');
  return [checkpoint.origin, checkpoint.size, checkpoint.root.toString('base64'), signature].join(' ');
}

/** Longer headers are refused by some receivers' servers. */
const MAX_HEADER_BYTES = 256;

/** {@link checkpointHeader}; null where it would be too long to be sent. */
export function sentHeader(note: string): string | null {
  const header = checkpointHeader(note);
  return header.length > MAX_HEADER_BYTES ? null : header;
}

/** The checkpoint of a header that one of `verifiers` has signed; null when none has, or it is none. */
export function openHeader(header: string, verifiers: readonly Verifier[]): Checkpoint | null {
  const [origin = '', size = '', root = '', signature = '', ...more] = header.split(' ');
  const text = `${origin}\n${size}\n${root}\n`;
  const isSigned = verifiers.some((key) => key.name === origin && isSignature(text, signature, key));
  return isSigned && more.length === 0 ? readCheckpointText(text) : null;
}

export function writeHead({ size, root }: TreeHead): string {
  return `${size}:${root.toString('hex')}`;
}

/** A head in any of its forms; signatures are not looked at. Null when the text is none. */
export function readHead(text: string): TreeHead | null {
  const [, size, root] = /^([1-9]\d{0,14}):([0-9a-f]{64})$/.exec(text.trim()) ?? [];
  if (size !== undefined && root !== undefined) return { size: Number(size), root: Buffer.from(root, 'hex') };
  return readCheckpointText(text) ?? readCheckpointText(`${text.trim().split(' ').slice(0, 3).join('\n')}\n`);
}
