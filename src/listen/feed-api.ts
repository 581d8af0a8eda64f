/** The API as the partner's token reads it: the feed and one webhook. Failures are values with a sentence. */
import { z } from 'zod';
import { readBounded } from '../bounded-answer.ts';

/** The deadline of an answer. */
const ANSWER_MS = 30_000;
/** A page of a hundred events with payloads of 64 KiB is some 7 MiB. */
const MAX_ANSWER_BYTES = 8 * 1_024 * 1_024;
const MAX_SHOWN = 200;
/** The pause before another try unless the API says one, and the bounds of that. */
const TRY_AGAIN_S = { usual: 5, least: 1, most: 300 };

/** One sentence that says what to do. */
type Failure =
  /** Passing: try again after `waitS`. */
  | { readonly away: string; readonly waitS: number }
  /** Permanent. */
  | { readonly refused: string };

/** `goOn`: the API's database went back in time; continue from this cursor. */
export type FeedAnswer = { readonly ok: z.infer<typeof page> } | { readonly goOn: string } | Failure;

interface FeedQuery {
  readonly after: string | null;
  /** Without a cursor: from the first event recorded at or after it; a future instant is now. */
  readonly since: Date;
  readonly limit: number;
}

export interface FeedApi {
  readFeed(query: FeedQuery, stopping: AbortSignal): Promise<FeedAnswer>;
  readNames(webhookId: string, stopping: AbortSignal): Promise<{ readonly ok: readonly string[] } | Failure>;
}

/** Words for headers, lines and the next request; anything else is not Carteiro's. */
const word = z.string().regex(/^[\w.~+/=-]{1,512}$/);
const envelope = z.looseObject({ evento: word }).refine(canBeWritten);

/** A value as deep as the parser takes can be too deep for the serialiser. */
function canBeWritten(value: unknown): boolean {
  try {
    return JSON.stringify(value) !== undefined;
  } catch {
    return false;
  }
}

const page = z.object({
  itens: z.array(
    z.object({
      evento_id: word,
      versao_emprestimo: z.int().nullable(),
      entregas: z.array(z.object({ id: word, webhook_id: word })),
      /** Keys in the order received. Absent of an erased event, and of one that the API cannot read by a fault of its own. */
      envelope: envelope.optional(),
      apagado: z.literal(true).optional(),
    }),
  ),
  /** Null only while the feed is empty. */
  proximo_cursor: word.nullable(),
  ha_mais: z.boolean(),
});

const webhook = z.object({ eventos: z.array(z.string()) });

const refusal = z.object({
  codigo: z.string(),
  mensagem: z.string(),
  detalhes: z.array(z.object({ mensagem: z.string() })).optional(),
});

/** The API at `url` (no trailing slash) for `token`. Redirects are not followed: no other host gets the token. */
export function createFeedApi(url: string, token: string): FeedApi {
  const ask = async (path: string, stopping: AbortSignal): Promise<Answered | Failure> => {
    try {
      const response = await fetch(`${url}${path}`, {
        headers: { authorization: `Bearer ${token}` },
        redirect: 'manual',
        signal: AbortSignal.any([stopping, AbortSignal.timeout(ANSWER_MS)]),
      });
      const text = (await readBounded(response, MAX_ANSWER_BYTES)).toString();
      return { status: response.status, headers: response.headers, body: parsed(text) };
    } catch (error) {
      return away(`${url} does not answer (${causeOf(error)}): is the API up, and is that its address?`);
    }
  };
  return {
    async readFeed({ after, since, limit }, stopping) {
      const query = new URLSearchParams({ limite: String(limit) });
      if (after === null) query.set('desde', since.toISOString());
      else query.set('depois', after);
      const answered = await ask(`/v1/eventos?${query.toString()}`, stopping);
      if (!('status' in answered)) return answered;
      const { code, detail } = refusalOf(answered);
      if (code === 'CURSOR_ADIANTE' && word.safeParse(detail).success && detail !== null) return { goOn: detail };
      return readOr(answered, page, url);
    },
    async readNames(webhookId, stopping) {
      const answered = await ask(`/v1/webhooks/${webhookId}`, stopping);
      if (!('status' in answered)) return answered;
      if (refusalOf(answered).code === 'NAO_ENCONTRADO') {
        return { refused: `the token's partner has no webhook ${webhookId}: GET /v1/webhooks lists what it has` };
      }
      const read = readOr(answered, webhook, url);
      return 'ok' in read ? { ok: read.ok.eventos } : read;
    },
  };
}

interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

function refusalOf({ body }: Answered): {
  readonly code: string | null;
  readonly text: string;
  readonly detail: string | null;
} {
  const { data } = refusal.safeParse(body);
  return {
    code: data?.codigo ?? null,
    text: shown(data?.mensagem ?? ''),
    detail: data?.detalhes?.[0]?.mensagem ?? null,
  };
}

function readOr<T>(answered: Answered, schema: z.ZodType<T>, url: string): { readonly ok: T } | Failure {
  const { status, headers, body } = answered;
  const { code, text } = refusalOf(answered);
  if (status === 200) {
    const read = schema.safeParse(body);
    if (read.success) return { ok: read.data };
  }
  if (code === 'CREDENCIAL_INVALIDA') {
    return { refused: `the API refuses the token (${text}): set CARTEIRO_TOKEN to a new one` };
  }
  if (code === 'ESCOPO_INSUFICIENTE') {
    return { refused: `the token does not suffice (${text}): ask for one with the scope webhooks:read` };
  }
  if (status === 429 || (status >= 500 && code !== null)) {
    return away(`${url} answers ${status} (${text})`, headers.get('retry-after'));
  }
  if (status >= 500) return away(`${url} answers ${status}`);
  const location = headers.get('location');
  const where = location === null ? '' : ` and points to ${shown(location)}`;
  return { refused: `${url} answers ${status}${where}, which is not Carteiro's API: set CARTEIRO_API to its address` };
}

/** The pause is bounded: 0, or more than a timer can hold, would mean none. */
function away(sentence: string, retryAfter: string | null = null): Failure {
  const { usual, least, most } = TRY_AGAIN_S;
  const askedS = /^\d+$/.test(retryAfter ?? '') ? Number(retryAfter) : usual;
  return { away: sentence, waitS: Math.min(Math.max(askedS, least), most) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The system's code where there is one: `ECONNREFUSED`. */
function causeOf(error: unknown): string {
  const { name, cause } = error as Error;
  if (name === 'TimeoutError') return `no answer within ${ANSWER_MS / 1_000} s`;
  const { code, message } = (cause ?? error) as { readonly code?: unknown; readonly message?: string };
  return shown(typeof code === 'string' ? code : (message ?? name));
}

/** One line without control characters: another server's words go to a terminal. */
export function shown(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\s]+/gu, ' ')
    .trim()
    .slice(0, MAX_SHOWN);
}
