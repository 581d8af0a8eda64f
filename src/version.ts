import { readFileSync } from 'node:fs';
import path from 'node:path';
import manifest from '../package.json' with { type: 'json' };

export const VERSION = manifest.version;

/** An image's build argument `REVISION`, or a checkout's HEAD; `unknown` otherwise. */
export const REVISION = process.env['CARTEIRO_REVISION'] || revisionOf(path.resolve(import.meta.dirname, '../.git'));

function revisionOf(git: string): string {
  try {
    const head = readFileSync(path.join(git, 'HEAD'), 'utf8').trim();
    return head.startsWith('ref: ') ? readFileSync(path.join(git, head.slice(5)), 'utf8').trim() : head;
  } catch {
    return 'unknown';
  }
}
