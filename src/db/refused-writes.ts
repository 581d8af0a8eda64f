/** Whether this process's one database has refused a write for want of disk space. */
import { hasCode, REFUSED_WRITE } from './unavailable.ts';

let isRefused = false;

/** Called with each error of a pool. */
export function noteRefusedWrite(error: unknown): void {
  isRefused ||= hasCode(error, REFUSED_WRITE);
}

export function areWritesRefused(): boolean {
  return isRefused;
}

export function noteRoom(): void {
  isRefused = false;
}
