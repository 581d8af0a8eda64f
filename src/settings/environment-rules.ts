/** Rules of environment variables and between them; `readConfig` reports all that are broken. Pure. */
import { isIP } from 'node:net';
import { z } from 'zod';

export const flag = z.enum(['true', 'false'], 'must be true or false').transform((text) => text === 'true');

export function integer(min: number, max: number) {
  const rule = `must be an integer from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,9}$/, rule)
    .transform(Number)
    .refine((number) => number >= min && number <= max, rule);
}

/** The word stands for null. */
export function integerOr(word: string, min: number, max: number) {
  const read = integer(min, max);
  return z
    .string()
    .refine(
      (text) => text === word || read.safeParse(text).success,
      `must be an integer from ${min} to ${max}, or ${word}`,
    )
    .transform((text) => (text === word ? null : Number(text)));
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Meaningless while the policy for failing endpoints is off. */
const OF_THE_POLICY = ['ENDPOINT_FAILING_HOURS', 'ENDPOINT_SUSPEND_AFTER_DAYS', 'OPERATOR_WEBHOOK_URL'] as const;

/** Variables that are missing beside others, or mean nothing beside them. */
export function checkPairs(given: Environment, needs: readonly (readonly [name: string, needed: string])[]): string[] {
  const isOff = given['ENDPOINT_FAILING_AFTER'] === 'off';
  const idle = OF_THE_POLICY.filter((name) => isOff && given[name] !== undefined);
  const problems = idle.map((name) => `${name}: means nothing beside ENDPOINT_FAILING_AFTER=off`);
  const missing = needs.flatMap(([name, needed]) =>
    given[name] !== undefined && given[needed] === undefined ? [`${needed}: is required beside ${name}`] : [],
  );
  return [...problems, ...missing];
}

/** Setting one of these implies a database of one's own: the embedded sandbox makes its own keys and has no pooler. */
const PRODUCTION = ['DIRECT_DATABASE_URL', 'SECRETS_KEY', 'JWT_ISSUER', 'JWT_AUDIENCE', 'JWT_JWKS_URL'] as const;
const PRODUCTION_IF_FALSE = ['SANDBOX', 'DATABASE_PREPARE'] as const;
/** The edit distance within which a name counts as misspelled `DATABASE_URL`. */
const MISSPELLED_BY = 2;

/** A misspelled or forgotten DATABASE_URL must not start an embedded server beside the real one. */
export function checkEmbedded(given: Environment): string[] {
  const misspelled = Object.keys(given).filter(
    (name) => countEdits(name.toUpperCase(), 'DATABASE_URL') <= MISSPELLED_BY,
  );
  const production = [
    ...PRODUCTION.filter((name) => given[name] !== undefined),
    ...PRODUCTION_IF_FALSE.filter((name) => given[name] === 'false').map((name) => `${name}=false`),
  ];
  const problems = misspelled.map((name) => `${name}: is not known here; is DATABASE_URL meant?`);
  if (production.length > 0) {
    const them = production.length > 1 ? 'them' : 'it';
    problems.push(
      `DATABASE_URL: is required beside ${production.join(', ')}; set it, or for an embedded sandbox unset ${them}`,
    );
  }
  return problems;
}

/** Levenshtein distance. */
function countEdits(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [line, letter] of Array.from(from).entries()) {
    const next = [line + 1];
    for (const [index, wanted] of Array.from(to).entries()) {
      const replaced = (row[index] ?? 0) + (letter === wanted ? 0 : 1);
      next.push(Math.min(replaced, (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

/** An address, or a subnet as `10.0.0.0/8`. */
export function isSubnet(text: string): boolean {
  const [address = '', bits = '0', ...rest] = text.split('/');
  const family = isIP(address);
  return family !== 0 && rest.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128);
}

export const identifier = z
  .string()
  .regex(/^(?!pg_)[a-z][a-z0-9_]{0,39}$/, 'must be lower-case letters, digits and _, at most 40, not starting with pg_')
  .refine((name) => name !== 'public', 'must be a schema of its own, not public');

export const KEY = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/;

export const keyRing = z
  .string()
  .transform((text) => text.split(',').map((key) => key.trim()))
  .refine((keys) => keys.every((key) => KEY.test(key)), 'must be base64 of 32 bytes, or several separated by commas')
  .transform((keys) => keys.map((key) => Buffer.from(key, 'base64')));

export const subnets = z
  .string()
  .transform((text) => (text === 'none' ? [] : text.split(',').map((subnet) => subnet.trim())))
  .refine((list) => list.every(isSubnet), 'must be addresses or subnets (10.0.0.0/8) separated by commas, or none');

/** Nothing is asked with them, and messages show the URL. */
const withoutUser = [
  (text: string): boolean => !URL.parse(text)?.username && !URL.parse(text)?.password,
  'must have no user and no password in it',
] as const;

export const webUrl = z
  .string()
  .refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''), 'must be an absolute https:// URL')
  .refine(...withoutUser);

/** https, or http on the loopback. */
export function isTrustworthy(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  const isLoopback = hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
  return protocol === 'https:' || (protocol === 'http:' && isLoopback);
}

const trusted = z.string().refine(isTrustworthy, 'must be an https URL, or an http URL on the loopback');

export const trustedUrl = trusted.refine(...withoutUser);

export function withoutSlash(url: string): string {
  let end = url.length;
  while (url[end - 1] === '/') end -= 1;
  return url.slice(0, end);
}

/** A base to append paths to. */
export const baseUrl = trusted
  .refine((text) => /^[^?#@]*$/.test(text), 'must be a base alone: no user, no query, no fragment')
  .transform(withoutSlash);

/** Loopback and private networks: only proxies connect from there for others. */
export const PRIVATE_NETWORKS = '127.0.0.0/8,::1,10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,100.64.0.0/10,fc00::/7';
