/** The page's clock: Brasília's, or that of another zone which the reader chose. */
import type { Language } from '../../contract/language.ts';

export const ZONES = [
  'America/Sao_Paulo',
  'America/Noronha',
  'America/Manaus',
  'America/Rio_Branco',
  'America/New_York',
  'Europe/Lisbon',
  'UTC',
] as const;
export type Zone = (typeof ZONES)[number];

export interface Clock {
  readonly language: Language;
  readonly zone: Zone;
}

const LOCAL = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/;
const formats = new Map<string, Intl.DateTimeFormat>();

export function zoneOf(chosen: string | undefined): Zone {
  return ZONES.find((zone) => zone === chosen) ?? ZONES[0];
}

export function momentText({ language, zone }: Clock, at: string | Date): string {
  const key = `${language} ${zone}`;
  const [tag, dateStyle] = language === 'pt' ? (['pt-BR', 'short'] as const) : (['en-GB', 'medium'] as const);
  const format = formats.get(key) ?? new Intl.DateTimeFormat(tag, { timeZone: zone, dateStyle, timeStyle: 'medium' });
  formats.set(key, format);
  return format.format(new Date(at));
}

/** The instant of a form's local time (`2026-01-31T12:00`) with its offset; anything else as it is. */
export function instantOf(zone: Zone, given: string): string {
  if (!LOCAL.test(given) || Number.isNaN(Date.parse(`${given}Z`))) return given;
  const offset = offsetOf(zone, Date.parse(`${given}${offsetOf(zone, Date.parse(`${given}Z`))}`));
  return `${given.length === 16 ? `${given}:00` : given}${offset}`;
}

/** A moment as the field of a form takes it. */
export function localTime(zone: Zone, at: number): string {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' });
  return format.format(at).replace(' ', 'T');
}

function offsetOf(zone: Zone, at: number): string {
  const parts = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' }).formatToParts(at);
  const name = parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
  // Before the zones of today it has seconds, which no instant does.
  return name.slice('GMT'.length, 'GMT-03:00'.length) || 'Z';
}
