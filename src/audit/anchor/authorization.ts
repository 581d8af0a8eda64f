/**
 * What a time-stamping authority asks of who may have stamps: a user, a token, OAuth 2 client credentials (RFC 6749 4.4), or a
 * client certificate. The files are read for each question, so a rotated one needs no restart. Deliveries ask for their tokens otherwise
 * (delivery/sending/tokens.ts): by the rules of targets, and with a partner's sentence for each fault.
 */
import { readFile } from 'node:fs/promises';
import { Agent, fetch } from 'undici';
import { ask } from './anchor.ts';

type Send = (url: string, init: RequestInit) => Promise<Response>;

export interface AuthorizationFiles {
  /** One line: `basic user:password`, `bearer token`, or `oauth2 URL ID SECRET [SCOPE…]`. */
  readonly authFile: string | null;
  readonly certFile: string | null;
  readonly keyFile: string | null;
}

/** Sends with the client certificate and the header `Authorization` that the files ask for. Rejects with a sentence, without a secret. */
export class Authorized {
  readonly #files: AuthorizationFiles;
  readonly #monotonicMs: () => number;
  #token: { readonly line: string; readonly header: string; readonly untilMs: number } | null = null;

  constructor(files: AuthorizationFiles, monotonicMs: () => number) {
    this.#files = files;
    this.#monotonicMs = monotonicMs;
  }

  /** As {@link ask}; a 401 of a token that was kept is asked once more with a new one. */
  async ask(url: string, init: RequestInit): Promise<Awaited<ReturnType<typeof ask>>> {
    const { authFile, certFile, keyFile } = this.#files;
    const line = authFile === null ? null : await readLine('ANCHOR_TIMESTAMP_AUTH_FILE', authFile);
    const tls = {
      ...(certFile !== null && { cert: await readLine('ANCHOR_TIMESTAMP_CERT_FILE', certFile) }),
      ...(keyFile !== null && { key: await readLine('ANCHOR_TIMESTAMP_KEY_FILE', keyFile) }),
    };
    const agent = new Agent({ connect: tls, maxResponseSize: 1_048_576 });
    // Node's own types and those of undici name the same objects twice.
    const send: Send = (to, more) => fetch(to, { ...(more as object), dispatcher: agent });
    try {
      const isKept = this.#token !== null;
      const answer = await ask(url, await this.#with(init, line, send), send);
      if (answer.status !== 401 || !isKept) return answer;
      this.#token = null;
      return await ask(url, await this.#with(init, line, send), send);
    } finally {
      await agent.destroy();
    }
  }

  async #with(init: RequestInit, line: string | null, send: Send): Promise<RequestInit> {
    if (line === null) return init;
    return { ...init, headers: { ...(init.headers as object), Authorization: await this.#header(line, send) } };
  }

  async #header(line: string, send: Send): Promise<string> {
    const [kind = '', ...words] = line.split(/\s+/);
    const [first = '', id = '', secret = '', ...scope] = words;
    if (kind === 'basic' && words.length === 1 && first.includes(':')) return `Basic ${encode(first)}`;
    if (kind === 'bearer' && words.length === 1) return `Bearer ${first}`;
    if (kind !== 'oauth2' || secret === '' || !/^https?:$/.test(URL.parse(first)?.protocol ?? ''))
      throw new Error(FORM);
    if (this.#token?.line === line && this.#monotonicMs() < this.#token.untilMs) return this.#token.header;
    const body = new URLSearchParams({
      grant_type: 'client_credentials',
      ...(scope.length > 0 && { scope: scope.join(' ') }),
    });
    const credentials = encode(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`);
    const headers = { Authorization: `Basic ${credentials}`, 'Content-Type': 'application/x-www-form-urlencoded' };
    const answer = await ask(first, { method: 'POST', headers, body: body.toString() }, send);
    const { token, forS } = readToken(answer.body.toString());
    if (answer.status !== 200 || token === null)
      throw new Error(`the token server of ANCHOR_TIMESTAMP_AUTH_FILE answers ${answer.status} without a token`);
    this.#token = { line, header: `Bearer ${token}`, untilMs: this.#monotonicMs() + (forS - MARGIN_S) * 1_000 };
    return this.#token.header;
  }
}

/** A token is asked anew this long before its end. */
const MARGIN_S = 60;
const FORM =
  'ANCHOR_TIMESTAMP_AUTH_FILE: must hold one line, basic user:password, bearer token, or oauth2 URL ID SECRET SCOPE';

function readToken(text: string): { token: string | null; forS: number } {
  try {
    const { access_token: token, expires_in: forS } = JSON.parse(text) as Record<string, unknown>;
    const isToken = typeof token === 'string' && /^[\x21-\x7e]{1,16384}$/.test(token);
    return { token: isToken ? token : null, forS: typeof forS === 'number' ? forS : 0 };
  } catch {
    return { token: null, forS: 0 };
  }
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64');
}

async function readLine(variable: string, file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${variable}: cannot be read (${error.code ?? error.name})`);
  });
  return text.trim();
}
