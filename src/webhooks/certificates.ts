/** When receivers' certificates end. Read as a connection opens, at most once an hour per origin; written once a minute. */
import type { DetailedPeerCertificate } from 'node:tls';
import { runLoop } from '../db/outage-log.ts';
import type { Pool, Tx } from '../db/pool.ts';
import type { Logger } from '../log-lines.ts';

export const EVERY_MS = 60_000;
const AGAIN_MS = 3_600_000;
/** At this many origins a poller forgets all of them. */
const REMEMBERED = 10_000;

export class ReceiverCertificates {
  readonly #seenMs = new Map<string, number>();
  #fresh = new Map<string, Date>();
  readonly #monotonicMs: () => number;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  note(origin: string, socket: { getPeerCertificate(detailed: true): DetailedPeerCertificate }): void {
    const nowMs = this.#monotonicMs();
    if (nowMs - (this.#seenMs.get(origin) ?? -AGAIN_MS) < AGAIN_MS) return;
    if (this.#seenMs.size >= REMEMBERED) this.#seenMs.clear();
    this.#seenMs.set(origin, nowMs);
    const until = endOfChain(socket.getPeerCertificate(true));
    if (until !== null) this.#fresh.set(origin, until);
  }

  run(pool: Pool, log: Logger, stopping: AbortSignal): Promise<void> {
    const away = 'the database is out of reach, certificates are written later';
    const loop = { log, afterFaultMs: EVERY_MS, away, fault: 'certificates could not be written' };
    return runLoop(loop, stopping, async () => {
      await this.write(pool);
      return EVERY_MS;
    });
  }

  async write(pool: Pool): Promise<void> {
    const fresh = this.#fresh;
    if (fresh.size === 0) return;
    this.#fresh = new Map();
    const origins = [...fresh.keys()].toSorted();
    await pool.run(
      (sql) => sql`
        insert into receiver_certificates as known (origin, valid_until, seen_at)
        select origin, valid_until, now()
        from unnest(${origins}::text[], ${origins.map((origin) => fresh.get(origin)?.toISOString() ?? '')}::timestamptz[])
          as seen (origin, valid_until)
        on conflict (origin) do update set valid_until = excluded.valid_until, seen_at = excluded.seen_at
        where known.valid_until <> excluded.valid_until`,
    );
  }
}

export interface WebhookEnds {
  readonly receiverUntil: Date | null;
  readonly ownUntil: Date | null;
}

/** The certificates that living processes show others, by the setting that names the file: when the first of each ends. */
export const ownEnds = (sql: Tx) => sql<{ setting: string; validUntil: Date }[]>`
  select key as setting, min(value::timestamptz) as "validUntil"
  from processes cross join jsonb_each_text(certificates)
  where seen_at > now() - interval '1 minute'
  group by key order by key`;

/** When the certificate of a webhook's receiver ends, and the client certificate of its own. */
export async function readWebhookEnds(sql: Tx, id: string): Promise<WebhookEnds> {
  const [ends] = await sql<[WebhookEnds]>`
    select certificate_until as "ownUntil",
           (select valid_until from receiver_certificates where origin = substring(w.url from '^https://[^/?]+')) as "receiverUntil"
    from webhooks w where id = ${id}`;
  return ends;
}

/** The first end among the certificates that were sent; an authority that the receiver sent along counts, too. */
function endOfChain(first: DetailedPeerCertificate): Date | null {
  let end: number | null = null;
  const seen = new Set<string>();
  for (
    let one = first;
    one?.fingerprint256 !== undefined && !seen.has(one.fingerprint256);
    one = one.issuerCertificate
  ) {
    seen.add(one.fingerprint256);
    const until = Date.parse(one.valid_to);
    if (Number.isFinite(until)) end = Math.min(end ?? until, until);
  }
  return end === null ? null : new Date(end);
}
