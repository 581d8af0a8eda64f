/**
 * Access tokens of receivers' gateways: OAuth 2 client credentials (RFC 6749, 4.4). The sender of deliveries asks for them, so the rules of
 * targets hold for the token's server too, and no redirect is followed.
 * All who wait for a token share one request, and its fault, which is not cached. A token is kept in memory only, until 60 s before its
 * end.
 */
import { bodyOf } from './answer.ts';
import type { OAuth2, SendRequest, SendResult } from './exchange.ts';

/** The deadline of a token's server, and the bytes read of its answer. */
export const TOKEN_MS = 10_000;
export const MAX_TOKEN_ANSWER_BYTES = 65_536;
/** The longest header that gateways take. */
const MAX_TOKEN_LENGTH = 8_192;
const EARLY_MS = 60_000;
/** For an answer without a lifetime. */
const USUAL_S = 300;
const REMEMBERED = 10_000;

const VISIBLE = /^[\x21-\x7e]+$/;
/** RFC 6749, 5.2; RFC 8707. Any other text may be an echoed secret. */
const ERROR_CODES: ReadonlySet<unknown> = new Set([
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
  'invalid_target',
]);

export const basic = (user: string, password: string) =>
  `Basic ${Buffer.from(`${user}:${password}`, 'utf8').toString('base64')}`;

/** The message is safe to keep. */
export class NoToken extends Error {
  override name = 'NoToken';
}

interface Kept {
  readonly token: Promise<string>;
  /** Monotonic. */
  untilMs: number;
}

export class Tokens {
  readonly #send: (request: SendRequest) => Promise<SendResult>;
  readonly #now: () => number;
  readonly #kept = new Map<string, Kept>();

  constructor(send: (request: SendRequest) => Promise<SendResult>, now: () => number) {
    this.#send = send;
    this.#now = now;
  }

  /** Rejects with {@link NoToken}. */
  get(asked: OAuth2): Promise<string> {
    const name = JSON.stringify(asked);
    const found = this.#kept.get(name);
    if (found !== undefined && this.#now() < found.untilMs) return found.token;
    if (this.#kept.size >= REMEMBERED) this.#kept.clear();
    const kept: Kept = { token: this.#ask(asked, (ms) => (kept.untilMs = this.#now() + ms)), untilMs: Infinity };
    this.#kept.set(name, kept);
    kept.token.catch(() => this.#kept.delete(name));
    return kept.token;
  }

  forget(asked: OAuth2): void {
    this.#kept.delete(JSON.stringify(asked));
  }

  async #ask(asked: OAuth2, onLife: (ms: number) => void): Promise<string> {
    const result = await this.#send(requestOf(asked));
    const { token, lifeMs } = readAnswer(result);
    onLife(Math.max(0, lifeMs - EARLY_MS));
    return token;
  }
}

/** Form encoding, which RFC 6749, 2.3.1 demands for Basic too. */
const encoded = (text: string) => new URLSearchParams({ a: text }).toString().slice(2);

function requestOf({
  token_url: url,
  client_id: id,
  client_secret: secret,
  escopo,
  audiencia,
  envio,
}: OAuth2): SendRequest {
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    ...(escopo !== undefined && { scope: escopo }),
    ...(audiencia !== undefined && { audience: audiencia }),
    ...(envio === 'corpo' && { client_id: id, client_secret: secret }),
  });
  const headers = ['Content-Type', 'application/x-www-form-urlencoded', 'Accept', 'application/json'];
  if (envio === 'basic') headers.push('Authorization', basic(encoded(id), encoded(secret)));
  return { url, body: Buffer.from(form.toString()), headers };
}

function readAnswer({ outcome, statusCode, error, answer }: SendResult): { token: string; lifeMs: number } {
  if (outcome !== 'entregue' && outcome !== 'resposta_nao_2xx')
    throw new NoToken(`TOKEN: o servidor de token não respondeu (${error ?? outcome})`);
  const body = jsonOf(bodyOf(answer ?? '\n'));
  if (outcome === 'resposta_nao_2xx') {
    const code = ERROR_CODES.has(body['error']) ? ` (${String(body['error'])})` : '';
    throw new NoToken(`TOKEN: o servidor de token respondeu ${statusCode}${code}`);
  }
  const { access_token: token, expires_in: seconds = USUAL_S } = body;
  if (typeof token !== 'string' || !VISIBLE.test(token))
    throw new NoToken('TOKEN: a resposta do servidor de token não tem access_token');
  if (token.length > MAX_TOKEN_LENGTH) throw new NoToken('TOKEN: o token passa de 8 KiB');
  const life = Number(seconds);
  if (!(life > 0)) throw new NoToken('TOKEN: o servidor de token deu um token vencido');
  return { token, lifeMs: Math.min(life, 86_400) * 1_000 };
}

function jsonOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
