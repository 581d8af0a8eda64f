/** Heads of the log as people keep them: one word, a line of the header, or a checkpoint's note. */
import type { TreeHead } from '../seals/tree/merkle.ts';
import { readCheckpointText } from './checkpoint.ts';

export function writeHead({ size, root }: TreeHead): string {
  return `${size}:${root.toString('hex')}`;
}

/** A head in any of its forms; signatures are not looked at. Null when the text is none. */
export function readHead(text: string): TreeHead | null {
  const [, size, root] = /^([1-9]\d{0,14}):([0-9a-f]{64})$/.exec(text.trim()) ?? [];
  if (size !== undefined && root !== undefined) return { size: Number(size), root: Buffer.from(root, 'hex') };
  return readCheckpointText(text) ?? readCheckpointText(`${text.trim().split(' ').slice(0, 3).join('\n')}\n`);
}
