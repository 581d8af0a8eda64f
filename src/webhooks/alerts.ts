/**
 * The addresses that get alerts about a partner's webhooks, and the newest alerts.
 *
 * Invariant: an unconfirmed address gets only its code; a partner makes at most {@link MAX_CODES} codes a day. Addresses that
 * were confirmed before get an alert about each change of addresses, and about each change of a webhook before it. A trigger
 * writes history.
 */
import { randomInt } from 'node:crypto';
import type { Result } from '../contract/refusals.ts';
import { type AddressChannel, ALERT_CODE_H, type AlertChannel, type AlertKind } from '../contract/statuses.ts';
import { lockPartner } from '../db/partner-lock.ts';
import type { Tx } from '../db/pool.ts';
import { collectChanges } from './alert-collect.ts';
import type { Subject } from './history.ts';

const MAX_CODES = 10;
const MAX_WRONG = 10;
const CODE_DIGITS = 8;
const SHOWN = 20;

interface Address {
  readonly channel: AddressChannel;
  readonly address: string;
  readonly confirmedAt: Date | null;
}

interface ShownAlert {
  readonly subject: string;
  readonly kind: AlertKind;
  readonly channel: AlertChannel;
  readonly createdAt: Date;
  readonly sentAt: Date | null;
  readonly attempts: number;
  readonly error: string | null;
}

export async function readAlerts(sql: Tx, partnerId: string) {
  const addresses = await sql<Address[]>`
    select channel, address, confirmed_at as "confirmedAt" from alert_addresses where partner_id = ${partnerId}`;
  const alerts = await sql<ShownAlert[]>`
    select subject, kind, channel, created_at as "createdAt", sent_at as "sentAt", attempts, error
    from alerts where partner_id = ${partnerId} order by created_at desc, happened_at desc, subject, kind, channel limit ${SHOWN}`;
  const changes = await sql<{ changedAt: Date; actor: string }[]>`
    select changed_at as "changedAt", actor from partner_history
    where partner_id = ${partnerId} and change = 'avisos' order by partner_history.position desc limit ${SHOWN}`;
  return { addresses, alerts, changes };
}

export type Wanted = Readonly<Record<AddressChannel, string | null | undefined>>;

/** Null takes an address away, undefined leaves it. A new one is sent a code; so is one whose code has run out. */
export async function setAddresses(
  tx: Tx,
  { partnerId, actor }: Omit<Subject, 'id'>,
  wanted: Wanted,
): Promise<Result<'set', 'tooManyCodes'>> {
  await lockPartner(tx, partnerId);
  await tx`select set_config('carteiro.actor', ${actor}, true)`;
  const before = await tx<(Address & { isStale: boolean })[]>`
    select channel, address, confirmed_at as "confirmedAt",
           confirmed_at is null and set_at < now() - ${ALERT_CODE_H} * interval '1 hour' as "isStale"
    from alert_addresses where partner_id = ${partnerId}`;
  const changes = (['email', 'slack'] as const).flatMap((channel) => {
    const [address, known] = [wanted[channel], before.find((one) => one.channel === channel)];
    const isSame = address === undefined || (address === (known?.address ?? null) && known?.isStale !== true);
    return isSame ? [] : [{ channel, address }];
  });
  if (changes.length === 0) return { ok: 'set' };
  await reportChange(tx, partnerId, before);
  for (const { channel, address } of changes) {
    await tx`
      update alerts set due_at = null
      where partner_id = ${partnerId} and channel = ${channel} and due_at is not null and address is null`;
    await (address === null
      ? tx`delete from alert_addresses where partner_id = ${partnerId} and channel = ${channel}`
      : sendCode(tx, partnerId, channel, address));
  }
  const [{ codes }] = await tx<[{ codes: number }]>`
    select count(*)::int as codes from alerts
    where partner_id = ${partnerId} and kind = 'confirmacao' and created_at > now() - interval '1 day'`;
  return codes > MAX_CODES ? { refused: { kind: 'tooManyCodes' } } : { ok: 'set' };
}

/** To every confirmed address as of now: this change, and the changes of webhooks not yet sent. */
async function reportChange(tx: Tx, partnerId: string, before: readonly Address[]): Promise<void> {
  await collectChanges(tx, partnerId);
  for (const { channel, address, confirmedAt } of before) {
    if (confirmedAt === null) continue;
    await tx`
      update alerts set address = ${address}
      where partner_id = ${partnerId} and channel = ${channel} and kind = 'mudanca' and due_at is not null and address is null`;
    await tx`
      insert into alerts (subject, kind, happened_at, channel, partner_id, address)
      values (${partnerId}, 'mudanca', clock_timestamp(), ${channel}, ${partnerId}, ${address})`;
  }
}

async function sendCode(tx: Tx, partnerId: string, channel: AddressChannel, address: string): Promise<void> {
  const code = String(randomInt(10 ** CODE_DIGITS)).padStart(CODE_DIGITS, '0');
  await tx`
    insert into alert_addresses (partner_id, channel, address, set_at, code)
    values (${partnerId}, ${channel}, ${address}, now(), ${code})
    on conflict (partner_id, channel) do update
    set address = excluded.address, set_at = excluded.set_at, code = excluded.code, confirmed_at = null, wrong_codes = 0`;
  await tx`
    insert into alerts (subject, kind, happened_at, channel, partner_id, address)
    values (${partnerId}, 'confirmacao', clock_timestamp(), ${channel}, ${partnerId}, ${address})`;
}

export async function confirmAddress(
  tx: Tx,
  { partnerId, actor }: Omit<Subject, 'id'>,
  code: string,
): Promise<'confirmed' | 'wrong'> {
  await tx`select set_config('carteiro.actor', ${actor}, true)`;
  const rows = await tx`
    update alert_addresses set confirmed_at = clock_timestamp(), code = null
    where partner_id = ${partnerId} and code = ${code} and wrong_codes < ${MAX_WRONG}
      and set_at > now() - ${ALERT_CODE_H} * interval '1 hour'
    returning channel`;
  if (rows.length > 0) return 'confirmed';
  await tx`
    update alert_addresses set wrong_codes = wrong_codes + 1
    where partner_id = ${partnerId} and code is not null and wrong_codes < ${MAX_WRONG}`;
  return 'wrong';
}

/** One test at each confirmed address, at most one a minute. */
export async function orderTest(sql: Tx, partnerId: string): Promise<void> {
  await sql`
    insert into alerts (subject, kind, happened_at, channel, partner_id)
    select partner_id, 'teste', date_trunc('minute', now()), channel, partner_id
    from alert_addresses
    where partner_id = ${partnerId} and confirmed_at is not null
    on conflict do nothing`;
}
