/**
 * What follows from events that a core in another language appended: the loans' projection, the end of registrations that our
 * worker still asks about, the bonds that a partner lists, and the installments of a settlement.
 *
 * Invariant: applying an event twice, or an event of our own core, changes nothing. So crashes and two readers at once do no harm.
 * Locks: partners, then loans, each in the order of their ids, as detections (bond-detection.ts) and closings take them.
 */
import { type EventType, isOfCatalog } from '../../contract/events.ts';
import type { Tx } from '../../db/pool.ts';
import { OTHER_TYPES } from '../../loan/rules.ts';
import type { PlacedEvent } from '../../log/follow.ts';
import { keepSettlement, type Settlement } from '../settlement/installments.ts';
import { projectStreams, readBehind } from '../loans/loan-projection.ts';
import { closeEndedRegistrations } from '../loans/open-registrations.ts';

/** Runs one piece of the work; false when it failed and was undone. `ids`: what it was about, for the log. */
export type Attempt = (ids: Readonly<Record<string, unknown>>, work: () => Promise<unknown>) => Promise<boolean>;

const throwing: Attempt = async (_ids, work) => {
  await work();
  return true;
};

type Bond = Pick<PlacedEvent, 'id' | 'type' | 'partnerId'>;

const BOND_KINDS: Partial<Record<EventType, string>> = {
  'trabalhador.desligado': 'ended',
  'trabalhador.vinculo_novo': 'new',
};
const ENDS_OF_REGISTRATION = new Set<EventType>(['averbacao.concluida', 'averbacao.falhou']);

/** Those that `append_event` would have refused, and why. What our schemas take is skipped: the catalog is made of them. */
export async function readFaulty(tx: Tx, events: readonly PlacedEvent[]): Promise<readonly FaultyEvent[]> {
  const read = await tx<{ id: string; type: EventType; data: unknown; isTimely: boolean }[]>`
    select f.id, f.type, f.data, f.occurred_at = e.occurred_at as "isTimely"
    from events e join facts f using (id)
    where e.id = any (${events.map(({ id }) => id)}::uuid[])`;
  const doubtful = read.filter((event) => !event.isTimely || !isOfCatalog(event)).map(({ id }) => id);
  if (doubtful.length === 0) return [];
  return tx<FaultyEvent[]>`
    select e.id as "eventId", event_fault(e) as fault from events e
    where e.id = any (${doubtful}::uuid[]) and event_fault(e) is not null`;
}

export type FaultyEvent = Readonly<Record<'eventId' | 'fault', string>>;

/** Makes true what follows from `events`, which are in the log's order; a piece that `attempt` says failed is left out. */
export async function applyEvents(tx: Tx, events: readonly PlacedEvent[], attempt = throwing): Promise<void> {
  if (events.length === 0) return;
  const reported = [...events, ...(await readAhead(tx, events))];
  const bonds = await readUnkept(
    tx,
    reported.filter(({ type }) => type in BOND_KINDS),
  );
  const settlements = await readUnknown(
    tx,
    events.filter(({ type }) => type === 'repasse.processado'),
  );
  await lockPartners(tx, [...bonds, ...settlements]);
  await applyToLoans(tx, events, attempt);
  for (const bond of bonds) await attempt({ eventId: bond.id }, () => keepBond(tx, bond));
  for (const { id, partnerId, data } of settlements)
    await attempt({ eventId: id }, () => keepSettlement(tx, partnerId, data));
}

async function applyToLoans(tx: Tx, events: readonly PlacedEvent[], attempt: Attempt): Promise<void> {
  const versions = new Map<string, number>();
  for (const { stream, version, type } of events) {
    if (OTHER_TYPES.some((other) => other === type)) continue;
    versions.set(stream, Math.max(version, versions.get(stream) ?? 0));
  }
  const behind = await readBehind(tx, versions);
  if (behind.length === 0) return;
  const isDone = await attempt({ loans: behind.length }, () => projectStreams(tx, behind));
  if (!isDone) for (const loanId of behind) await attempt({ loanId }, () => projectStreams(tx, [loanId]));
  const ended = events.filter(({ type }) => ENDS_OF_REGISTRATION.has(type)).map(({ stream }) => stream);
  if (ended.length > 0) await attempt({ loans: ended.length }, () => closeEndedRegistrations(tx, ended));
}

/** What had been appended to the streams whose history comes behind it: until then they were no loans. */
async function readAhead(tx: Tx, events: readonly PlacedEvent[]): Promise<readonly Bond[]> {
  const streams = events.filter(({ version }) => version < 1).map(({ stream }) => stream);
  if (streams.length === 0) return [];
  return tx<Bond[]>`
    select id, type, partner_id as "partnerId" from events
    where stream = any (${streams}::uuid[]) and version >= 1
    order by stream, version`;
}

async function lockPartners(tx: Tx, events: readonly Pick<PlacedEvent, 'partnerId'>[]): Promise<void> {
  if (events.length === 0) return;
  const ids = events.map(({ partnerId }) => partnerId);
  await tx`select from partners where id = any (${ids}::uuid[]) order by id for no key update`;
}

/** Those without a bond record. */
async function readUnkept(tx: Tx, events: readonly Bond[]): Promise<readonly Bond[]> {
  if (events.length === 0) return [];
  const kept = await tx<{ id: string }[]>`
    select event_id as id from bond_records where event_id = any (${events.map(({ id }) => id)}::uuid[])`;
  const known = new Set(kept.map(({ id }) => id));
  return events.filter(({ id }) => !known.has(id));
}

/** Keeps the bond, detected just after the partner's latest; an imported one when it happened, so readers past that miss it. */
async function keepBond(tx: Tx, { id, type }: Bond): Promise<void> {
  const kind = BOND_KINDS[type] ?? '';
  await tx`
    insert into bond_records (kind, reference, partner_id, loan_id, data, detected_at, emitted, event_id)
    select ${kind}, 'evento:' || e.id, l.partner_id, l.id, e.data,
           case when e.imported then e.occurred_at else greatest(
             clock_timestamp(),
             (select max(detected_at) + interval '1 millisecond'
              from bond_records where partner_id = e.partner_id and kind = ${kind} and detected_at is not null)) end,
           e.data, e.id
    from events e
    join loans l on l.id = e.stream and l.partner_id = e.partner_id
    where e.id = ${id} and event_fault(e) is null
    on conflict do nothing`;
}

interface ReportedSettlement {
  readonly id: string;
  readonly partnerId: string;
  readonly data: Settlement;
}

/** Those whose batch we do not have, and that are as the catalog has them. */
async function readUnknown(tx: Tx, events: readonly PlacedEvent[]): Promise<readonly ReportedSettlement[]> {
  if (events.length === 0) return [];
  return tx<ReportedSettlement[]>`
    select e.id, e.partner_id as "partnerId", e.data
    from events e
    where e.id = any (${events.map(({ id }) => id)}::uuid[]) and event_fault(e) is null
      and not exists (select from settlements s where s.id::text = lower(field_of(e.data, 'repasse_id')))
    order by e.epoch, e.tx, e.position`;
}

/** Sound events that the projector has passed and whose bond or settlement is missing. Reads the whole log. */
export async function readUnapplied(tx: Tx): Promise<PlacedEvent[]> {
  return tx<PlacedEvent[]>`
    select e.epoch::text as epoch, e.tx::text as tx, e.position::text as position, e.id, e.stream, e.version, e.type, e.partner_id as "partnerId"
    from events e
    join projections p on p.name = 'loans' and (e.epoch, e.tx, e.position) <= (p.epoch, p.tx, p.position)
    where case when (e.type in ('trabalhador.desligado', 'trabalhador.vinculo_novo')
           and exists (select from loans l where l.id = e.stream and l.partner_id = e.partner_id)
           and not exists (select from bond_records b where b.event_id = e.id))
       or (e.type = 'repasse.processado'
           and not exists (select from settlements s
                           where s.id::text = lower(field_of(e.data, 'repasse_id'))
                              or (s.partner_id = e.partner_id and s.month = field_of(e.data, 'competencia'))))
          then event_fault(e) is null end
    order by e.epoch, e.tx, e.position`;
}
