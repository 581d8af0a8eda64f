/** The sender's requests and results. */
import type { WebhookCredentials } from '../../contract/resources/webhook-credentials.ts';
import type { Outcome } from '../../contract/statuses.ts';
import type { ClientCertificate } from '../target/identity.ts';
import type { Place } from './connection.ts';

export type OAuth2 = Extract<NonNullable<WebhookCredentials['autorizacao']>, { tipo: 'oauth2' }>;

export interface Certificate extends ClientCertificate {
  /** Unique to this certificate. */
  readonly id: string;
}

/** What a receiver's gateway demands, prepared for many POSTs (credentials.ts). */
export interface Credentials {
  /** Names and values alternating; for oauth2 without the token. */
  readonly headers: readonly string[];
  /** Texts to remove from kept answers. */
  readonly echoes: readonly string[];
  readonly certificate: Certificate | null;
  readonly oauth2: OAuth2 | null;
}

export interface SendRequest {
  readonly url: string;
  /** Default: POST. */
  readonly method?: 'OPTIONS';
  readonly body: Buffer;
  /** Names and values alternating. */
  readonly headers: string[];
  readonly credentials?: Credentials | undefined;
}

export interface SendResult {
  readonly outcome: Exclude<Outcome, 'desconhecido'>;
  /** Of the final answer; null when none came in time. */
  readonly statusCode: number | null;
  /** Whole milliseconds from the attempt's start to its status line or failure. */
  readonly durationMs: number;
  /** The remote address really connected to. */
  readonly address: string | null;
  /** Code and message of a failure without an answer. */
  readonly error: string | null;
  /** The kept part of the answer (answer.ts); null without an answer. */
  readonly answer: string | null;
}

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
