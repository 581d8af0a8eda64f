/** What the page is given by `main`, and what travels with one request of it. */
import type { Context } from 'hono';
import type { HtmlEscapedString } from 'hono/utils/html';
import type { HttpDeps } from '../http/deps.ts';
import type { Env } from '../http/request.ts';
import type { ApiClient } from './api-client.ts';
import type { Language } from '../contract/language.ts';
import type { Texts } from './language/choose.ts';
import type { Zone } from './frame/clock.ts';
import type { Session } from './session.ts';

export interface PainelDeps extends HttpDeps {
  /** The API of the same process: what the page does, it does as a client of it, with the reader's own token. */
  readonly api: (request: Request) => Response | Promise<Response>;
  /** The page's public address, if configured; a sandbox knows by it that it is behind https. */
  readonly publicUrl: URL | null;
  /** Makes a token of the sandbox's partner; null outside of the sandbox, and where somebody else issues tokens. */
  readonly sandboxToken: (() => Promise<string>) | null;
}

export type Theme = 'auto' | 'claro' | 'escuro';

export interface PainelEnv {
  Bindings: Env['Bindings'];
  Variables: Env['Variables'] & {
    language: Language;
    texts: Texts;
    theme: Theme;
    zone: Zone;
    sandbox: boolean;
    /** Null on the few pages that need none. */
    session: Session | null;
  };
}

export type PainelContext = Context<PainelEnv>;
export type Html = HtmlEscapedString | Promise<HtmlEscapedString>;

export interface Visit {
  readonly c: PainelContext;
  /** Of the path, where it has one. */
  readonly id: string;
  readonly session: Session;
  /** Whether the token may change webhooks. */
  readonly mayWrite: boolean;
  readonly api: ApiClient;
  readonly t: Texts;
  /** What the address says of each name, without the spaces around it; empty where it says nothing. */
  query<N extends string>(...names: readonly N[]): Readonly<Record<N, string>>;
}
