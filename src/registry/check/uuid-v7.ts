/** UUIDs as production makes them: a bridge that cuts them, or keeps their first characters alone, is seen by the check. */
import { randomBytes } from 'node:crypto';

/** A UUIDv7 of now: several of one second differ in their last characters alone. */
export function uuidV7(): string {
  const random = randomBytes(10).toString('hex');
  const hex = `${Date.now().toString(16).padStart(12, '0')}7${random.slice(1, 4)}8${random.slice(5)}`;
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
