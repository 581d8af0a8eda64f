/**
 * What a receiver's gateway demands of a POST: headers, and a certificate, from the webhook's credentials.
 * Invariant: a POST leaves with its claim's credentials or not at all. An attempt without its token ends in `erro_autorizacao` and delays
 * nobody else: it waits in its own slot, TOKEN_MS at most, and counts as unanswered, which sets its webhook's window to 1. Secrets in the
 * receiver's answer are masked before it is kept.
 */
import { createHash } from 'node:crypto';
import type { WebhookCredentials } from '../../contract/resources/webhook-credentials.ts';
import { cutKept } from './answer.ts';
import { echoesOf, withoutEchoes } from './echoes.ts';
import type { Certificate, Credentials, SendRequest, SendResult } from './exchange.ts';
import { basic, NoToken, type Tokens } from './tokens.ts';

type Given = NonNullable<WebhookCredentials['autorizacao']>;

function authorizationOf(given: Given | undefined): readonly string[] {
  if (given?.tipo === 'basic') return ['Authorization', basic(given.usuario, given.senha)];
  return given?.tipo === 'bearer' ? ['Authorization', `Bearer ${given.token}`] : [];
}

function secretsOf(given: Given | undefined): readonly string[] {
  if (given?.tipo === 'basic') return [given.senha, basic(given.usuario, given.senha).slice('Basic '.length)];
  if (given?.tipo === 'bearer') return [given.token];
  return given === undefined ? [] : [given.client_secret];
}

export function prepareCredentials({ cabecalhos = {}, autorizacao, certificado }: WebhookCredentials): Credentials {
  const { pem: cert = '', chave_pem: key = '' } = certificado ?? {};
  const id = createHash('sha256').update(cert).update(key).digest('hex');
  const authorization = authorizationOf(autorizacao);
  const secrets = [...Object.values(cabecalhos), ...secretsOf(autorizacao)];
  return {
    headers: [...Object.entries(cabecalhos).flat(), ...authorization],
    echoes: echoesOf(secrets),
    certificate: certificado === undefined ? null : { cert, key, id },
    oauth2: autorizacao?.tipo === 'oauth2' ? autorizacao : null,
  };
}

export type Send = (request: SendRequest, startedAtMs: number, certificate: Certificate | null) => Promise<SendResult>;

export async function sendWith(
  credentials: Credentials,
  request: SendRequest,
  startedAtMs: number,
  { send, tokens, now }: { readonly send: Send; readonly tokens: Tokens; readonly now: () => number },
): Promise<SendResult> {
  const { oauth2, certificate } = credentials;
  const headers = [...credentials.headers];
  let { echoes } = credentials;
  try {
    if (oauth2 !== null) {
      const token = await tokens.get(oauth2);
      headers.push('Authorization', `Bearer ${token}`);
      echoes = [...echoesOf([token]), ...echoes];
    }
  } catch (error) {
    if (!(error instanceof NoToken)) throw error;
    const durationMs = Math.round(now() - startedAtMs);
    return {
      outcome: 'erro_autorizacao',
      statusCode: null,
      durationMs,
      address: null,
      error: error.message,
      answer: null,
    };
  }
  const result = await send({ ...request, headers: [...request.headers, ...headers] }, startedAtMs, certificate);
  if (oauth2 !== null && result.statusCode === 401) tokens.forget(oauth2);
  return result.answer === null ? result : { ...result, answer: cutKept(withoutEchoes(result.answer, echoes)) };
}
