/**
 * The page as a client of the API in the same process: each call carries the reader's token and passes the checks of a partner's
 * own call. Alternative: the functions behind the routes; they would check bodies, scopes and owners a second time.
 */
import type { ErrorBody } from '../contract/errors.ts';

export interface Refusal {
  readonly ok: false;
  readonly status: number;
  readonly error: ErrorBody;
}

export type Answer<T> = { readonly ok: true; readonly status: number; readonly body: T } | Refusal;

export type ApiClient = ReturnType<typeof createApiClient>;

/** A call that the API refused, where the page has nothing better to show than that. */
export class Refused extends Error {
  override name = 'Refused';
  readonly refusal: Pick<Refusal, 'status' | 'error'>;

  constructor(refusal: Refused['refusal']) {
    super(refusal.error.codigo);
    this.refusal = refusal;
  }
}

type Fields = Readonly<Record<string, string>>;

export function addressOf(path: string, fields: Fields): string {
  const given = new URLSearchParams(Object.entries(fields).filter(([, value]) => value !== ''));
  return given.size === 0 ? path : `${path}?${given.toString()}`;
}

/** No host answers here: the request never leaves the process. */
const ORIGIN = 'http://carteiro.invalid';

export function createApiClient(fetch: (request: Request) => Response | Promise<Response>, token: string) {
  const request = (path: string, { headers, ...rest }: RequestInit) =>
    fetch(
      new Request(`${ORIGIN}${path}`, {
        ...rest,
        headers: { Authorization: `Bearer ${token}`, ...(headers as Fields) },
      }),
    );
  const call = async <T>(path: string, init: RequestInit): Promise<Answer<T>> => {
    const response = await request(path, init);
    const { ok, status } = response;
    const text = await response.text();
    const body: unknown = text === '' ? undefined : JSON.parse(text);
    return ok ? { ok, status, body: body as T } : { ok, status, error: body as ErrorBody };
  };
  const ask = <T>(path: string, query: Fields = {}) => call<T>(addressOf(path, query), {});
  return {
    ask,
    /** The API's own answer, as its bytes come. */
    async pass(path: string) {
      const answer = await request(path, {});
      if (!answer.ok) throw new Refused({ status: answer.status, error: (await answer.json()) as ErrorBody });
      return new Response(answer.body, answer);
    },
    send<T>(method: string, path: string, body?: unknown, headers: Fields = {}) {
      if (body === undefined) return call<T>(path, { method, headers });
      const sent = JSON.stringify(body);
      // A body of a length that is not told is none to an operation that can do without.
      const described = { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(sent)) };
      return call<T>(path, { method, headers: { ...headers, ...described }, body: sent });
    },
    /** As {@link ask}; throws {@link Refused}. */
    async read<T>(path: string, query?: Fields) {
      const answer = await ask<T>(path, query);
      if (!answer.ok) throw new Refused(answer);
      return answer.body;
    },
    /** As {@link read}, of filters that the reader wrote: a wrong one comes back. */
    async search<T>(path: string, query: Fields) {
      const answer = await ask<T>(path, query);
      if (!answer.ok && answer.status !== 400) throw new Refused(answer);
      return answer;
    },
  };
}
