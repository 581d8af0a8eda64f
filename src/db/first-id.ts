/** Before every id. */
export const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** After every id. */
export const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** The least UUIDv7 of a moment: the bound of a period on time-ordered ids. */
export function firstIdAt(at: Date): string {
  const ms = at.getTime().toString(16).padStart(12, '0');
  return `${ms.slice(0, 8)}-${ms.slice(8)}-0000-0000-000000000000`;
}
