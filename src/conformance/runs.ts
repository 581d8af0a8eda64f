/**
 * The runs of this process, and their rows.
 *
 * Invariant: a webhook has one run at a time, over all processes (a unique index of rows without an end). A run writes each check
 * as it is judged and says by when it writes again ({@link SILENCE_S}); after that time it counts as interrupted, and the next run
 * ends its row. A run has its own sender, which shares nothing with deliveries.
 */
import { randomBytes } from 'node:crypto';
import type { ConformanceState } from '../contract/conformance.ts';
import { HEADER_CHECKPOINT } from '../contract/delivery.ts';
import { NOT_FOUND, type Result } from '../contract/refusals.ts';
import { SUBSCRIBABLE_NAMES } from '../contract/events.ts';
import type { Pool, Tx } from '../db/pool.ts';
import { Consent } from '../delivery/queue/consent.ts';
import type { Openers } from '../delivery/sending/openers.ts';
import type { Sender } from '../delivery/sending/send.ts';
import { signingKey } from '../delivery/sending/signature.ts';
import type { Logger } from '../log-lines.ts';
import type { Kit, Post } from './post.ts';
import { reportOf, type Sides } from './report.ts';
import { type Judged, runChecks } from './run.ts';

/** At once in one process, and of one partner; each holds at most ten connections, for five minutes at most. */
const MAX_RUNS = 8;
const MAX_RUNS_OF_PARTNER = 2;
/** The minute of silence, and twice the limit of an answer. */
const SILENCE_S = 120;
/** Of a webhook; older runs are deleted when one begins. */
export const RUNS_KEPT = 20;

export interface RunsDeps {
  readonly pool: Pool;
  readonly openers: Openers;
  readonly openSender: () => Sender;
  /** The newest checkpoint; absent where deliveries carry none. */
  readonly checkpoint?: { readonly header: string | null; renew(): Promise<void> };
  /** The signed form of a report. */
  readonly sign: (report: string) => string;
  readonly lender: Sides['lender'];
  readonly log: Pick<Logger, 'warn'>;
  readonly now: () => Date;
  readonly monotonicMs: () => number;
  /** The silence before the last POST, in milliseconds, when it is not a minute. */
  readonly idleMs?: number;
}

interface Asked {
  readonly partnerId: string;
  readonly webhookId: string;
  readonly actor: string;
}

interface Subject {
  readonly url: string;
  readonly events: string[];
  readonly active: boolean;
  readonly isMuted: boolean;
  readonly quietUntil: Date | null;
  readonly partnerName: string;
  readonly secret: Buffer;
  readonly previous: Buffer | null;
  readonly credentials: Buffer | null;
}

type Refusal =
  | 'notFound'
  | 'webhookInactive'
  | 'testOfMuted'
  | 'notAsked'
  | 'conformanceUnderWay'
  | 'tooManyConformances';
type Began = { readonly id: string; readonly startedAt: Date; readonly subject: Subject };

export class ConformanceRuns {
  readonly #deps: RunsDeps;
  readonly #stopping = new AbortController();
  /** The running ones, and those about to begin. */
  readonly #runs = new Map<Asked, Promise<void>>();

  constructor(deps: RunsDeps) {
    this.#deps = deps;
  }

  /** Begins a run in the background and returns its id. */
  async start(asked: Asked): Promise<Result<{ readonly id: string }, Refusal>> {
    const own = [...this.#runs.keys()].filter(({ partnerId }) => partnerId === asked.partnerId).length;
    const isFull = this.#runs.size >= MAX_RUNS || own >= MAX_RUNS_OF_PARTNER;
    if (this.#stopping.signal.aborted || isFull) return { refused: { kind: 'tooManyConformances' } };
    const beginning = this.#deps.pool.transaction((tx) => begin(tx, asked));
    const running = beginning
      .then(
        async (begun) => {
          if (!('ok' in begun)) return;
          await this.#run(asked, begun.ok).catch(async (error: unknown) => {
            const reason = error instanceof Error ? error.name : typeof error;
            const of = { webhook_id: asked.webhookId, homologacao_id: begun.ok.id };
            this.#deps.log.warn({ ...of, reason }, 'a conformance run broke off');
            await this.#deps.pool.run((sql) => endRun(sql, begun.ok.id, null)).catch(() => undefined);
          });
        },
        () => undefined,
      )
      .finally(() => this.#runs.delete(asked));
    this.#runs.set(asked, running);
    const begun = await beginning;
    return 'ok' in begun ? { ok: { id: begun.ok.id } } : begun;
  }

  /** Ends the runs after their POSTs in flight, each within its deadline. */
  async close(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#runs.values());
  }

  async #run({ partnerId, webhookId, actor }: Asked, { id, startedAt, subject }: Began): Promise<void> {
    const { pool, openers, openSender, checkpoint, now, monotonicMs, idleMs, sign, lender } = this.#deps;
    const { url, credentials, previous } = subject;
    const kit: Kit = {
      partnerId,
      event: SUBSCRIBABLE_NAMES.find((name) => subject.events.includes(name)) ?? 'autorizacao.confirmada',
      key: openers.openKey(webhookId, subject.secret).key,
      previous: openers.previousKey(webhookId, previous),
      strange: signingKey(`whsec_${randomBytes(32).toString('base64')}`),
      now,
    };
    const shown = credentials && { credentials: openers.credentialsOf(webhookId, credentials) };
    const sender = openSender();
    let consent: Consent | null = new Consent();
    consent.learn(webhookId, true);
    const send = async (post: Post) => {
      await checkpoint?.renew();
      const head = checkpoint?.header ?? null;
      const headers = head === null ? post.headers : [...post.headers, HEADER_CHECKPOINT, head];
      const result = await sender.send({ url, body: post.body, headers, ...shown });
      // Our own delivery, the first POST, counts as any other.
      await consent?.count(pool, [{ webhookId, url, result }], null);
      consent = null;
      return result;
    };
    const note = (judged: Judged) => pool.run((sql) => writeCheck(sql, id, judged));
    const { signal: stopping } = this.#stopping;
    try {
      const checks = await runChecks(kit, {
        send,
        monotonicMs,
        stopping,
        note,
        ...(idleMs !== undefined && { idleMs }),
      });
      const partner = { id: partnerId, name: subject.partnerName };
      const webhook = { id: webhookId, url, events: subject.events };
      const report = stopping.aborted
        ? null
        : sign(reportOf({ id, actor, startedAt, endedAt: now(), lender, partner, webhook, checks }));
      await pool.run((sql) => endRun(sql, id, report));
    } finally {
      await sender.close();
    }
  }
}

async function begin(tx: Tx, { partnerId, webhookId, actor }: Asked): Promise<Result<Began, Refusal>> {
  const [subject] = await tx<Subject[]>`
    select w.url, w.events, w.active, p.name as "partnerName", w.encrypted_credentials as credentials,
           case when w.quiet_until > now() then w.quiet_until end as "quietUntil",
           exists (select from lanes where webhook_id = w.id and muted_at is not null) as "isMuted",
           case when w.signs_from > now() then w.previous_encrypted_secret else w.encrypted_secret end as secret,
           case when (w.signs_from > now()) is not true and w.previous_until > now() then w.previous_encrypted_secret end as previous
    from webhooks w join partners p on p.id = w.partner_id
    where w.id = ${webhookId} and w.partner_id = ${partnerId} for share of w`;
  if (subject === undefined) return NOT_FOUND;
  if (!subject.active) return { refused: { kind: 'webhookInactive' } };
  if (subject.isMuted) return { refused: { kind: 'testOfMuted' } };
  if (subject.quietUntil !== null) return { refused: { kind: 'notAsked', until: subject.quietUntil } };
  await tx`
    update conformance_runs set ended_at = alive_until
    where webhook_id = ${webhookId} and ended_at is null and alive_until <= clock_timestamp()`;
  const [row] = await tx<{ id: string; startedAt: Date }[]>`
    insert into conformance_runs (webhook_id, partner_id, actor, alive_until)
    values (${webhookId}, ${partnerId}, ${actor}, clock_timestamp() + ${SILENCE_S} * interval '1 second')
    on conflict do nothing
    returning id, started_at as "startedAt"`;
  if (row === undefined) return { refused: { kind: 'conformanceUnderWay' } };
  await tx`
    delete from conformance_runs where webhook_id = ${webhookId} and id not in (
      select id from conformance_runs where webhook_id = ${webhookId} order by id desc limit ${RUNS_KEPT})`;
  return { ok: { ...row, subject } };
}

async function writeCheck(sql: Tx, id: string, judged: Judged): Promise<void> {
  await sql`
    update conformance_runs
    set checks = checks || ${JSON.stringify([judged])}::text::jsonb, alive_until = now() + ${SILENCE_S} * interval '1 second'
    where id = ${id}`;
}

async function endRun(sql: Tx, id: string, report: string | null): Promise<void> {
  await sql`update conformance_runs set ended_at = now(), report = ${report} where id = ${id} and ended_at is null`;
}

export interface Run {
  readonly id: string;
  readonly actor: string;
  readonly startedAt: Date;
  readonly endedAt: Date | null;
  readonly checks: readonly Judged[];
  readonly reportSha256: string | null;
  readonly isAlive: boolean;
}

export function readRuns(pool: Pool, partnerId: string, webhookId: string): Promise<readonly Run[]> {
  return pool.run(
    (sql) => sql<Run[]>`
    select id, actor, started_at as "startedAt", ended_at as "endedAt", checks, ended_at is null and alive_until > now() as "isAlive",
           encode(sha256(convert_to(report, 'UTF8')), 'hex') as "reportSha256"
    from conformance_runs where webhook_id = ${webhookId} and partner_id = ${partnerId} order by id desc`,
  );
}

export async function readReport(pool: Pool, partnerId: string, webhookId: string, id: string): Promise<string | null> {
  const [row] = await pool.run(
    (sql) => sql<{ report: string | null }[]>`
    select report from conformance_runs where id = ${id} and webhook_id = ${webhookId} and partner_id = ${partnerId}`,
  );
  return row?.report ?? null;
}

/** Under way, approved, failed, or ended before its end. */
export function stateOf({ isAlive, reportSha256, checks }: Run): ConformanceState {
  if (isAlive) return 'em_andamento';
  if (reportSha256 === null) return 'interrompida';
  if (checks.some(({ verdict }) => verdict === 'falhou')) return 'reprovada';
  return checks.some(({ why }) => why === 'tempo') ? 'interrompida' : 'aprovada';
}
