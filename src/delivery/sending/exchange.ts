/** What is asked of the sender, and what it answers. */
import type { WebhookCredentials } from '../../contract/resources/webhook-credentials.ts';
import type { Outcome } from '../../contract/statuses.ts';
import type { ClientCertificate } from '../target/identity.ts';
import type { Place } from './connection.ts';

export type OAuth2 = Extract<NonNullable<WebhookCredentials['autorizacao']>, { tipo: 'oauth2' }>;

export interface Certificate extends ClientCertificate {
  /** Of no other certificate. */
  readonly id: string;
}

/** What a receiver's gateway demands, made ready for many POSTs (credentials.ts). */
export interface Credentials {
  /** Names and values in turn; of oauth2 without the token. */
  readonly headers: readonly string[];
  /** Texts that no kept answer may have. */
  readonly echoes: readonly string[];
  readonly certificate: Certificate | null;
  readonly oauth2: OAuth2 | null;
}

export interface SendRequest {
  readonly url: string;
  /** POST unless it is given. */
  readonly method?: 'OPTIONS';
  readonly body: Buffer;
  /** Names and values in turn. */
  readonly headers: string[];
  readonly credentials?: Credentials | undefined;
}

export interface SendResult {
  readonly outcome: Exclude<Outcome, 'desconhecido'>;
  /** Of the final answer; `null` when there was none in time. */
  readonly statusCode: number | null;
  /** Whole milliseconds from the start of the attempt to its status line, or to its failure. */
  readonly durationMs: number;
  /** The remote address really connected to. */
  readonly address: string | null;
  /** Code and message of a failure without an answer. */
  readonly error: string | null;
  /** The kept part of the answer: its header fields and the beginning of its body (answer.ts); `null` when there was none. */
  readonly answer: string | null;
}

/** The destination of the requests for one URL. */
export interface Destination {
  readonly place: Place;
  readonly path: string;
}

/** What an attempt waited for when its time was over. */
export const WAITED_FOR = {
  name: 'o nome não foi resolvido',
  connection: 'a conexão não foi aberta',
  tls: 'o TLS não terminou',
  answer: 'sem resposta',
} as const;
