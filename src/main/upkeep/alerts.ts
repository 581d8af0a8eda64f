/** Sends the alerts to partners' people: by e-mail, and to chats through the sender of deliveries, with its guard and its proxy. */
import { type Config, ConfigError } from '../../config.ts';
import type { AlertKind } from '../../contract/statuses.ts';
import type { Pool } from '../../db/pool.ts';
import { takeTurns } from '../../db/outage-log.ts';
import { createSender } from '../../delivery/sending/send.ts';
import type { Logger } from '../../log-lines.ts';
import { claimAlerts, collectAlerts, type DueAlert, settleAlert } from '../../webhooks/alerts.ts';
import { openEgress } from '../service/egress.ts';
import type { Relief } from '../service/service.ts';
import { readNamed } from '../named-files.ts';

const EVERY_MS = 15_000;
const AT_ONCE = 10;
const MAIL_TIMEOUT_MS = 20_000;

const TOLD: Readonly<Record<AlertKind, (host: string, at: Date) => readonly [subject: string, text: string]>> = {
  falhando: (host) => [
    `webhook em ${host} falhando`,
    `O webhook em ${host} falha há horas. Ele recebe uma entrega por vez até responder bem; nada se perde.`,
  ],
  suspensao: (host) => [
    `webhook em ${host} suspenso`,
    `O webhook em ${host} foi desativado porque falhava há dias. O que estava pendente fica guardado até você o reativar.`,
  ],
  fim_da_falha: (host) => [`webhook em ${host} voltou`, `O webhook em ${host} deixou o estado de falha.`],
  fim_do_segredo: (host, at) => [
    `o secret anterior do webhook em ${host} acaba`,
    `O secret anterior do webhook em ${host} deixa de assinar em ${at.toISOString()}. Confira que o receptor já verifica pelo novo.`,
  ],
  teste: () => ['aviso de teste', 'Este é um aviso de teste: os avisos dos seus webhooks chegam aqui.'],
};

/** The subject and the text of an alert; `publicUrl` is where browsers find the page. */
function wordsOf({ kind, url, happenedAt, subject }: DueAlert, publicUrl: URL | null) {
  const [title, text] = TOLD[kind](url === null ? '' : new URL(url).host, happenedAt);
  const page = kind === 'teste' ? '/painel' : `/painel/webhooks/${subject}`;
  return { title: `Carteiro: ${title}`, text: publicUrl === null ? text : `${text}\n${new URL(page, publicUrl).href}` };
}

type Send = (address: string, words: ReturnType<typeof wordsOf>) => Promise<string | null>;

/** Answers why an e-mail was not taken, or null; null itself where no server is set. */
async function openMail({ mail }: Config['egress']): Promise<Send | null> {
  if (mail === null) return null;
  const { createTransport } = await import('nodemailer');
  const { hostname, port, protocol } = mail.url;
  const secure = protocol === 'smtps:';
  const isLocal = ['127.0.0.1', 'localhost', '[::1]'].includes(hostname);
  const transport = createTransport({
    host: hostname.replaceAll(/[[\]]/g, ''),
    port: Number(port || (secure ? 465 : 587)),
    secure,
    // Never in the clear but to this machine.
    requireTLS: !secure && !isLocal,
    connectionTimeout: MAIL_TIMEOUT_MS,
    greetingTimeout: MAIL_TIMEOUT_MS,
    socketTimeout: MAIL_TIMEOUT_MS,
    ...(mail.authFile !== null && { auth: await readLogin(mail.authFile) }),
  });
  return async (to, { title, text }) => {
    try {
      await transport.sendMail({ from: mail.from, to: { name: '', address: to }, subject: title, text });
      return null;
    } catch (error) {
      const { code = 'ERRO', responseCode } = error as { code?: string; responseCode?: number };
      return `SMTP: ${code}${responseCode === undefined ? '' : ` ${responseCode}`}`;
    }
  };
}

async function readLogin(file: string) {
  const [, user, pass] = /^([^:\s]+):(\S+)$/.exec(await readNamed('SMTP_AUTH_FILE', file)) ?? [];
  if (user === undefined || pass === undefined)
    throw new ConfigError(['SMTP_AUTH_FILE: must hold one line, user:password']);
  return { user, pass };
}

export async function openAlerts(config: Config, log: Logger) {
  const mail = await openMail(config.egress);
  const sender = createSender({
    allowInsecure: config.allowInsecureTargets,
    ...(await openEgress(config.egress, log)),
  });
  const chat: Send = async (url, { title, text }) => {
    const body = Buffer.from(JSON.stringify({ text: `*${title}*\n${text}` }));
    const { outcome, statusCode, error } = await sender.send({
      url,
      body,
      headers: ['Content-Type', 'application/json'],
    });
    return outcome === 'entregue' ? null : (error ?? `HTTP ${statusCode}`);
  };
  const sends = { email: mail ?? (async () => 'nenhum servidor de e-mail está configurado'), slack: chat };
  const tell = async (pool: Pool, alert: DueAlert) => {
    const error = await sends[alert.channel](alert.address, wordsOf(alert, config.publicUrl));
    await pool.run((sql) => settleAlert(sql, alert, error));
    if (error !== null)
      log.warn(
        { webhook_id: alert.subject, kind: alert.kind, channel: alert.channel, error },
        'an alert was not taken',
      );
  };
  return {
    /** Tells what is due. */
    async turn(pool: Pool): Promise<void> {
      await pool.run(collectAlerts);
      const due = await pool.run((sql) => claimAlerts(sql, AT_ONCE));
      await Promise.all(due.map((alert) => tell(pool, alert)));
    },
    close: () => sender.close(),
  };
}

export async function runAlerts(
  config: Config,
  { pool, log, relief }: { readonly pool: Pool; readonly log: Logger; readonly relief: Relief },
  stopping: AbortSignal,
): Promise<void> {
  const alerts = await openAlerts(config, log);
  const away = 'the database is out of reach, alerts wait';
  const turns = { log, afterFaultMs: EVERY_MS, away, fault: 'alerts could not be sent' };
  await takeTurns(turns, stopping, async () => {
    await alerts.turn(pool);
    return EVERY_MS / relief.often();
  });
  await alerts.close();
}
