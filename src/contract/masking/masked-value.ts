/** What an answer of JSON tells of a worker, masked where it stands; ids and cursors stay, because a reader goes on with them. */
import { MASK, masked } from './masking.ts';

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const CURSOR = /cursor$|_depois$/;

/** `key` is the name under which the value stands: that of a name or a CPF masks whatever it is. */
export function maskedValue(value: unknown, key = ''): unknown {
  if (typeof value === 'string') return UUID.test(value) || CURSOR.test(key) ? value : maskedText(value, key);
  if (Array.isArray(value)) return value.map((one) => maskedValue(one, key));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, maskedValue(one, name)]));
}

function maskedText(text: string, key: string): string {
  const told = masked(JSON.stringify({ [key]: masked(text) }));
  try {
    return (JSON.parse(told) as Record<string, string>)[key] ?? MASK;
  } catch {
    return MASK;
  }
}
