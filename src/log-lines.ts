/**
 * The log: JSON lines on standard error, because standard output carries results alone.
 *
 * Call sites log named, allow-listed fields and never a request, a row or a token. The mask is the last resort for what
 * slips through all the same, inside an error's message say. It works on the parsed line, not on its text: in the text a
 * CPF that follows an escape (`\n123…`) is preceded by a letter, and a masked number would no longer be JSON.
 * Redaction by path (`pino.redact`) was tried and leaked six of ten shapes of a CPF.
 */
import { pino, type DestinationStream, type LevelWithSilent } from 'pino';

export type LogLevel = LevelWithSilent;
export type LogFields = Readonly<Record<string, unknown>>;

type Write = (fields: LogFields, message: string) => void;

export interface Logger {
  readonly debug: Write;
  readonly info: Write;
  readonly warn: Write;
  readonly error: Write;
}

/** Runs that a CPF's pattern must not look into (ids, digests), then what is masked. */
const SENSITIVE = new RegExp(
  [
    /(?<id>\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[0-9a-f]{16,}\b)/,
    /(?<secret>whsec_[\w+/=-]+)/,
    /(?<token>eyJ[\w-]+(?:\.[\w-]*)+)/,
    /(?<bearer>\bbearer\s+[\w.~+/=-]+)/,
    /(?<=[a-z]:\/\/[^\s:/@]*:)(?<password>[^\s/]+)(?=@)/,
    /(?<=password=)(?<parameter>[^&\s]+)/,
    /(?<cpf>(?<!\d)\d{3}[.\s-]?\d{3}[.\s-]?\d{3}[-/\s]?\d{2}(?!\d))/,
  ]
    .map((pattern) => pattern.source)
    .join('|'),
  'gi',
);

function maskText(text: string): string {
  return text.replace(SENSITIVE, (match: string, ...rest: unknown[]) => {
    const groups = rest.at(-1) as Record<string, string | undefined>;
    if (groups['id'] !== undefined) return match;
    const kind = Object.keys(groups).find((name) => groups[name] !== undefined);
    return kind === 'bearer' ? 'Bearer [masked]' : `[masked ${kind}]`;
  });
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

/** What is told of an error. The driver's `detail`, `query` and `parameters` hold rows, so they stay out. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, message, stack, cause } = error;
  const { code } = error as { code?: unknown };
  return { name, message, code, stack, cause: cause === undefined ? undefined : describeError(cause) };
}

/** What cannot be written is kept for the next line up to this, and beyond that lost. */
const MAX_UNWRITTEN_BYTES = 1_048_576;

/** Standard error, which may be a terminal that was closed or a file on a full disk: neither ends the service. */
function standardError(): DestinationStream {
  const stream = pino.destination({ dest: 2, sync: true, maxLength: MAX_UNWRITTEN_BYTES });
  stream.on('error', () => undefined);
  return stream;
}

/** A logger at `level`, to standard error unless a destination is given. An error goes in the field `err`. */
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
