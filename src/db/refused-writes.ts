/** What this process, which works on one database, knows of writes that found no room on the server's disk. */
import { hasCode, REFUSED_WRITE } from './unavailable.ts';

let isRefused = false;

/** Called with each error that a pool meets. */
export function noteRefusedWrite(error: unknown): void {
  isRefused ||= hasCode(error, REFUSED_WRITE);
}

/** True while the last write that was tried for room was refused. */
export function areWritesRefused(): boolean {
  return isRefused;
}

/** A write that was tried for room has found it. */
export function noteRoom(): void {
  isRefused = false;
}
