/** The page beside the API on a real socket, and a visitor who keeps cookies as a browser does. */
import { type HttpDeps } from '../../src/http/deps.ts';
import { type RunningServer, startServer } from '../../src/http/server.ts';
import type { Scope } from '../../src/contract/statuses.ts';
import { besidePainel, createPainel } from '../../src/painel/app.ts';
import { type DeliveryWorld, startDeliveryWorld, type Subscriber } from './delivery-world.ts';
import { endOf } from './ends.ts';

export interface Seen {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export interface Visitor {
  readonly cookies: Map<string, string>;
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Seen>;
  /** Posts a form as this host's own page would, unless `headers` say otherwise. */
  post(
    path: string,
    fields: Readonly<Record<string, string>>,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Seen>;
  /** Posts with the form token that the page at `from` carries. */
  submit(from: string, path: string, fields?: Readonly<Record<string, string>>): Promise<Seen>;
  signIn(token: string): Promise<Seen>;
}

export interface PainelWorld extends DeliveryWorld {
  readonly server: RunningServer;
  visitor(): Visitor;
  /** A visitor who is signed in as a partner with these scopes. */
  signedIn(partnerId: string | undefined, scopes?: readonly Scope[]): Promise<Visitor>;
  /** A partner with a webhook of this id and path, and a visitor who is signed in as it. */
  member(): Promise<{ partner: Subscriber; id: string; path: string; visitor: Visitor }>;
}

export const READER: readonly Scope[] = ['webhooks:read'];
export const WRITER: readonly Scope[] = ['webhooks:read', 'webhooks:write', 'emprestimos:read'];

export async function startPainelWorld(
  overrides: Partial<HttpDeps> = {},
  publicUrl: URL | null = null,
): Promise<PainelWorld> {
  const world = await startDeliveryWorld(overrides);
  const { deps, app } = world.api;
  const sandboxToken = async () => world.api.token(await world.api.partner(), [...WRITER, 'sandbox']);
  const painel = createPainel({
    ...deps,
    api: app.fetch,
    publicUrl,
    sandboxToken: deps.sandbox !== null ? sandboxToken : null,
  });
  const server = await startServer({ fetch: besidePainel(app.fetch, painel), host: '127.0.0.1', port: 0 });
  const signedIn = async (partnerId: string | undefined, scopes: readonly Scope[] = WRITER) => {
    const visitor = createVisitor(server.url);
    const { status } = await visitor.signIn(await world.api.token(partnerId, scopes));
    if (status !== 303) throw new Error(`the sign-in was answered ${status}`);
    return visitor;
  };
  return {
    ...world,
    server,
    visitor: () => createVisitor(server.url),
    signedIn,
    async member() {
      const partner = await world.subscriber();
      const { id, path } = await partner.register();
      return { partner, id, path, visitor: await signedIn(partner.id) };
    },
    close: endOf(async () => {
      painel.close();
      await server.close(1_000);
      await world.close();
    }),
  };
}

export function createVisitor(url: string): Visitor {
  const cookies = new Map<string, string>();
  const send = async (path: string, init: RequestInit, headers: Readonly<Record<string, string>>): Promise<Seen> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(`${url}${path}`, {
      ...init,
      redirect: 'manual',
      headers: { ...(cookie !== '' && { cookie }), ...headers },
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/max-age=0/i.test(line)) cookies.delete(name);
      else cookies.set(name, value);
    }
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const self: Visitor = {
    cookies,
    get: (path, headers = {}) => send(path, {}, headers),
    post: (path, fields, headers = { 'Sec-Fetch-Site': 'same-origin' }) =>
      send(path, { method: 'POST', body: new URLSearchParams(fields) }, headers),
    async submit(from, path, fields = {}) {
      const token = formTokenIn((await self.get(from)).text);
      return self.post(path, { ...fields, formulario: token });
    },
    signIn: (token) => self.post('/painel/entrar', { token }),
  };
  return self;
}

export function formTokenIn(text: string): string {
  return /name="formulario" value="([\w-]+)"/.exec(text)?.[1] ?? '';
}

/** A page's text as it is read. */
export function unescaped(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
}
