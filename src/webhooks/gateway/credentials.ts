/**
 * What the gateway before a receiver demands: one encrypted text in the webhook's row; answers show names and kinds alone. The name
 * in its associated data keeps a secret's form from being opened as credentials.
 */
import { X509Certificate } from 'node:crypto';
import { NOT_FOUND, type Result } from '../../contract/refusals.ts';
import type { ShownCredentials, WebhookCredentials } from '../../contract/resources/webhook-credentials.ts';
import type { Pool, Tx } from '../../db/pool.ts';
import { endOfCertificate } from '../../settings/pem.ts';
import { lockWebhook, type Subject, writeHistory } from '../history.ts';
import type { Vault } from '../secrets.ts';

/** In place of the webhook's id in the associated data. */
export const credentialsName = (webhookId: string) => `${webhookId}/credenciais`;

export function openCredentials(vault: Vault, webhookId: string, encrypted: Buffer): WebhookCredentials {
  return JSON.parse(vault.decrypt(credentialsName(webhookId), encrypted).secret) as WebhookCredentials;
}

/** Null when the partner has no webhook of that id. */
export async function readCredentials(
  pool: Pool,
  vault: Vault,
  partnerId: string,
  id: string,
): Promise<ShownCredentials | null> {
  const [row] = await pool.run(
    (sql) => sql<{ encrypted: Buffer | null }[]>`
      select encrypted_credentials as encrypted from webhooks where id = ${id} and partner_id = ${partnerId}`,
  );
  if (row === undefined) return null;
  return shownOf(row.encrypted === null ? {} : openCredentials(vault, id, row.encrypted));
}

/** Sets them, or with null removes them. The next claim uses them; deliveries in flight use the previous ones. */
export async function setCredentials(
  tx: Tx,
  vault: Vault,
  subject: Subject,
  credentials: WebhookCredentials | null,
): Promise<Result<ShownCredentials, 'notFound'>> {
  if ((await lockWebhook(tx, subject)) === null) return NOT_FOUND;
  const encrypted = credentials && vault.encrypt(credentialsName(subject.id), JSON.stringify(credentials));
  const pem = credentials?.certificado?.pem;
  const { count } = await tx`
    update webhooks
    set encrypted_credentials = ${encrypted}, certificate_until = ${pem === undefined ? null : endOfCertificate(pem)}
    where id = ${subject.id} and (encrypted_credentials is not null or ${encrypted !== null})`;
  if (count > 0)
    await writeHistory(tx, subject.id, encrypted === null ? 'fim_das_credenciais' : 'credenciais', subject);
  return { ok: shownOf(credentials ?? {}) };
}

function shownOf({ cabecalhos = {}, autorizacao, certificado }: WebhookCredentials): ShownCredentials {
  return {
    cabecalhos: Object.keys(cabecalhos),
    autorizacao: autorizacao === undefined ? null : authorizationOf(autorizacao),
    certificado: certificado === undefined ? null : certificateOf(certificado.pem),
  };
}

function authorizationOf(given: NonNullable<WebhookCredentials['autorizacao']>): ShownCredentials['autorizacao'] {
  if (given.tipo !== 'oauth2') return { tipo: given.tipo };
  const { client_secret: _, ...shown } = given;
  return shown;
}

function certificateOf(pem: string): ShownCredentials['certificado'] {
  const { subject, issuer, validToDate, fingerprint256 } = new X509Certificate(pem);
  return {
    assunto: subject.replaceAll('\n', ', '),
    emissor: issuer.replaceAll('\n', ', '),
    valido_ate: validToDate.toISOString(),
    sha256: fingerprint256.replaceAll(':', '').toLowerCase(),
  };
}
