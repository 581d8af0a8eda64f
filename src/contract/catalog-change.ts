/**
 * What a new catalog would take away from a database's. Two releases share one database for a while, so a change only adds: an
 * event, an optional key, a JSON type, a value of a list, more room. Pure.
 */
import type { CatalogEntry } from './event-catalog.ts';

const LIST = /^\^\(([^()]*)\)\$$/;
const LENGTH = /^text (\d+)$/;

/** One sentence for each thing that would be lost; empty when the change only adds. */
export function lossesOf(before: readonly CatalogEntry[], after: readonly CatalogEntry[]): string[] {
  return before.flatMap((old) => {
    const entry = after.find(({ name }) => name === old.name);
    if (entry === undefined) return [`the event ${old.name} is gone`];
    if (old.kind === 'reserved') return [];
    if (entry.kind !== old.kind) return [`${old.name} is ${entry.kind}, no longer ${old.kind}`];
    const families = old.families.filter((family) => !entry.families.includes(family));
    return [
      ...families.map((family) => `${old.name} is no longer of the family ${family}`),
      ...keyLosses(old, entry).map((loss) => `${old.name}: ${loss}`),
    ];
  });
}

function keyLosses(old: CatalogEntry, entry: CatalogEntry): string[] {
  const kept = old.keys.filter((key) => entry.keys.includes(key));
  const inOrder = entry.keys.filter((key) => kept.includes(key));
  const moved = kept.find((key, index) => inOrder[index] !== key);
  return [
    ...old.keys.filter((key) => !kept.includes(key)).map((key) => `the key "${key}" is gone`),
    ...(moved === undefined ? [] : [`the key "${moved}" has another place`]),
    ...entry.keys.filter((key) => isNewlyRequired(key, old, entry)).map((key) => `the key "${key}" is required`),
    ...kept.flatMap((key) => valueLosses(key, old, entry)),
  ];
}

/** A key of an object that is new itself may be required within it. */
function isNewlyRequired(key: string, old: CatalogEntry, entry: CatalogEntry): boolean {
  const above = key.split('.')[0] ?? key;
  if (entry.optional.includes(key) || (above !== key && !old.keys.includes(above))) return false;
  return !old.keys.includes(key) || old.optional.includes(key);
}

function valueLosses(key: string, old: CatalogEntry, entry: CatalogEntry): string[] {
  const [was, is] = [old.keys.indexOf(key), entry.keys.indexOf(key)];
  const kinds = entry.kinds[is]?.split(',') ?? [];
  const lost = old.kinds[was]?.split(',').filter((kind) => !kinds.includes(kind)) ?? [];
  const [before = null, after = null] = [old.formats[was], entry.formats[is]];
  return [
    ...lost.map((kind) => `"${key}" may no longer be ${kind}`),
    ...(isNarrower(before, after) ? [`"${key}" is of the form ${after}, no longer ${before ?? 'any text'}`] : []),
  ];
}

function isNarrower(before: string | null, after: string | null): boolean {
  if (after === null || before === after) return false;
  if (before === null) return true;
  const [had, has] = [before, after].map((format) => LIST.exec(format)?.[1]?.split('|'));
  if (had && has) return had.some((value) => !has.includes(value));
  const [most, newMost] = [before, after].map((format) => Number(LENGTH.exec(format)?.[1]));
  if (most !== undefined && newMost !== undefined && most + newMost > 0) return newMost < most;
  return `${before} >= 0` !== after ? after !== before.replace(' >= 0', '') : true;
}
