/**
 * Sends alerts by e-mail and to chats (guard and proxy of deliveries), and makes notices; a loop a channel, so none holds up
 * another.
 */
import { type Config, ConfigError } from '../../config.ts';
import type { EventData } from '../../contract/events.ts';
import type { AddressChannel, LossKind } from '../../contract/statuses.ts';
import type { Pool } from '../../db/pool.ts';
import { runLoop } from '../../db/outage-log.ts';
import { createSender } from '../../delivery/sending/send.ts';
import type { Logger } from '../../log-lines.ts';
import { collectAlerts, type Look } from '../../webhooks/alert-collect.ts';
import { claimAlerts, dropAlert, type DueAlert, settleAlert } from '../../webhooks/alert-queue.ts';
import { type Loss, readLoss } from '../../webhooks/losses.ts';
import { openEgress } from '../service/egress.ts';
import type { Throttle } from '../service/service.ts';
import { readNamed } from '../named-files.ts';
import { type AlertWords, wordsOf } from './alert-words.ts';

export const EVERY_MS = 5_000;
/** One poller works at a time; the others pause for this long. */
const REST_S = 4.9;
const CHAT_TIMEOUT_MS = 5_000;
const MAIL_TIMEOUT_MS = 5_000;

/** Answers why a message was not taken, or null. */
type Send = (address: string, words: AlertWords) => Promise<string | null>;

/** Null where no server is set. */
async function openMail({ smtpUrl, smtpAuthFile, smtpFrom: from }: Config): Promise<Send | null> {
  if (smtpUrl === null || from === null) return null;
  const { createTransport } = await import('nodemailer');
  const { hostname, port, protocol } = smtpUrl;
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
    ...(smtpAuthFile !== null && { auth: await readLogin(smtpAuthFile) }),
  });
  return async (to, { title, text }) => {
    try {
      await transport.sendMail({ from, to: { name: '', address: to }, subject: title, text });
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

function noticeOf({ subject, url }: DueAlert, loss: Loss): EventData<'webhook.erro'> {
  return {
    webhook_id: subject,
    host: new URL(url ?? '').host,
    desde: loss.since.toISOString(),
    entregas: loss.count,
    primeira_entrega_id: loss.deliveryId,
    ultimo_resultado: loss.outcome,
    ultimo_status_http: loss.statusCode,
  };
}

/** `now` replaces the database's clock in tests. */
export async function openAlerts(config: Config, log: Logger, now: () => Date | null = () => null) {
  const mail = await openMail(config);
  const sender = createSender({
    allowInsecure: config.allowInsecureTargets,
    timeoutMs: CHAT_TIMEOUT_MS,
    ...(await openEgress(config, log)),
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

  const report = async (pool: Pool, channel: AddressChannel, alert: DueAlert) => {
    const { kind, address } = alert;
    const loss = isOfLoss(alert) ? await pool.run((sql) => readLoss(sql, alert)) : null;
    const isOver = (isOfLoss(alert) && loss === null) || (kind === 'confirmacao' && alert.code === null);
    if (isOver) return pool.run((sql) => dropAlert(sql, alert));
    const error = await sends[channel](address ?? '', wordsOf(alert, loss, config.publicUrl));
    await pool.run((sql) => settleAlert(sql, alert, error, now()));
    if (error !== null) log.warn({ webhook_id: alert.subject, kind, channel, error }, 'an alert was not taken');
  };
  const notifyAll = async (pool: Pool, channel: AddressChannel, stopping = () => false) => {
    for (let isMore = true; isMore && !stopping();) {
      const due = await pool.run((sql) => claimAlerts(sql, channel, now()));
      await Promise.all(due.map((alert) => report(pool, channel, alert)));
      isMore = due.length > 0;
    }
  };
  /** Notices are made and settled in one transaction, so each is made once. */
  const notify = async (pool: Pool) => {
    for (let isMore = true; isMore;) {
      isMore = await pool.transaction(async (tx) => {
        const due = await claimAlerts(tx, 'evento', now());
        for (const alert of due) {
          const loss = isOfLoss(alert) ? await readLoss(tx, alert) : null;
          if (loss === null) await dropAlert(tx, alert);
          else {
            const data = JSON.stringify(noticeOf(alert, loss));
            await tx`select make_notice(${alert.subject}, ${`webhook.${alert.kind}`}, ${data}::text::json)`;
            await settleAlert(tx, alert, null, now());
          }
        }
        return due.length > 0;
      });
    }
  };
  const collect = async (pool: Pool, look: Look = {}) => {
    await pool.transaction((tx) => collectAlerts(tx, { now: now(), ...look }));
    await notify(pool);
  };
  return {
    collect,
    notifyAll,
    /** Everything once: for tests. */
    async poll(pool: Pool): Promise<void> {
      await collect(pool);
      await Promise.all([notifyAll(pool, 'email'), notifyAll(pool, 'slack')]);
    },
    close: () => sender.close(),
  };
}

function isOfLoss(alert: DueAlert): alert is DueAlert & { readonly kind: LossKind } {
  return alert.kind === 'atraso' || alert.kind === 'erro';
}

export async function runAlerts(
  config: Config,
  { pool, log, throttle }: { readonly pool: Pool; readonly log: Logger; readonly throttle: Throttle },
  stopping: AbortSignal,
): Promise<void> {
  const alerts = await openAlerts(config, log);
  const away = 'the database is out of reach, alerts wait';
  const loop = { log, afterFaultMs: EVERY_MS, away, fault: 'alerts could not be sent' };
  const isStopping = () => stopping.aborted;
  const every = (work: () => Promise<void>) =>
    runLoop(loop, stopping, async () => {
      await work();
      return EVERY_MS / throttle.rate();
    });
  await Promise.all([
    every(() => alerts.collect(pool, { restS: REST_S })),
    every(() => alerts.notifyAll(pool, 'email', isStopping)),
    every(() => alerts.notifyAll(pool, 'slack', isStopping)),
  ]);
  await alerts.close();
}
