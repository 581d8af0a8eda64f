/**
 * The log: JSON lines on standard error, because standard output carries results alone.
 * Call sites log named, allow-listed fields, never a request, a row or a token. The mask is the last resort, for example inside an error's
 * message. It works on the parsed line: in the text a CPF after an escape (`\n123…`) follows a letter, and a masked number would break the
 * JSON. Alternative: redaction by path (`pino.redact`) leaked six of ten shapes of a CPF.
 */
import { pino, type DestinationStream, type LevelWithSilent } from 'pino';
import { findCpfs } from './contract/masking/cpf.ts';

export type LogLevel = LevelWithSilent;
export type LogFields = Readonly<Record<string, unknown>>;

type Write = (fields: LogFields, message: string) => void;

export interface Logger {
  readonly debug: Write;
  readonly info: Write;
  readonly warn: Write;
  readonly error: Write;
}

/** Each consumes all it looks at, or looks a bounded way ahead. */
const SENSITIVE: readonly (readonly [pattern: RegExp, put: string])[] = [
  [/whsec_[\w+/=-]+/gi, '[masked secret]'],
  [/\bbearer\s{1,8}[\w.~+/=-]+/gi, 'Bearer [masked]'],
  [/eyJ[\w-]+[\w.-]*/g, '[masked token]'],
  [/password=[^&\s]+/gi, 'password=[masked parameter]'],
];

function maskText(text: string): string {
  const withoutSecrets = SENSITIVE.reduce((rest, [pattern, put]) => rest.replace(pattern, put), maskPasswords(text));
  let shown = '';
  let kept = 0;
  for (const { from, end } of findCpfs(withoutSecrets)) {
    shown += `${withoutSecrets.slice(kept, from)}[masked cpf]`;
    kept = end;
  }
  return shown + withoutSecrets.slice(kept);
}

/** Of `scheme://user:password@host`: finds the last @ before a blank or the next slash. */
function maskPasswords(text: string): string {
  const [first = '', ...rest] = text.split('://');
  return [first, ...rest.map(maskPassword)].join('://');
}

function maskPassword(authority: string): string {
  const end = authority.search(/[\s/]/);
  const at = authority.lastIndexOf('@', end === -1 ? authority.length : end);
  const colon = authority.indexOf(':');
  return colon === -1 || at <= colon
    ? authority
    : `${authority.slice(0, colon + 1)}[masked password]${authority.slice(at)}`;
}

function maskValue(value: unknown): unknown {
  if (typeof value === 'string') return maskText(value);
  if (typeof value === 'number') {
    const shown = String(value);
    const masked = maskText(shown);
    return masked === shown ? value : masked;
  }
  if (Array.isArray(value)) return value.map(maskValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [maskText(key), maskValue(inner)]));
}

function maskLine(line: string): string {
  try {
    return `${JSON.stringify(maskValue(JSON.parse(line)))}\n`;
  } catch {
    return maskText(line);
  }
}

/** The driver's `detail`, `query` and `parameters` hold rows, so they stay out. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, message, stack, cause } = error;
  const { code } = error as { code?: unknown };
  return { name, message, code, stack, cause: cause === undefined ? undefined : describeError(cause) };
}

/** Unwritable text is kept up to this for the next line; beyond it, it is lost. */
const MAX_UNWRITTEN_BYTES = 1_048_576;

/** Standard error may be a closed terminal or a file on a full disk; neither ends the service. */
function standardError(): DestinationStream {
  const stream = pino.destination({ dest: 2, sync: true, maxLength: MAX_UNWRITTEN_BYTES });
  stream.on('error', () => undefined);
  return stream;
}

/** To standard error unless a destination is given. An error goes in the field `err`. */
export function createLogger(level: LogLevel, destination?: DestinationStream): Logger {
  return pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
      hooks: { streamWrite: maskLine },
    },
    destination ?? standardError(),
  );
}
