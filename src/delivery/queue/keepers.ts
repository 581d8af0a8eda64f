/**
 * Keepers and their lanes: registration, signs of life, and lanes that are taken, read and handed back.
 * Invariant: whoever writes several lanes locks them in the order of their webhooks, or waits for none (SKIP LOCKED). So no two of them
 * wait for each other.
 */
import type { Tx } from '../../db/pool.ts';
import type { KeptLane, LaneSettings } from './lanes/kept-lane.ts';

/**
 * Takes up to `most` free lanes; returns the current settings of its new and changed lanes, or of `all` of its lanes. A changed lane that
 * somebody else holds locked is left for later, unless all are wanted.
 */
export async function readLanes(tx: Tx, poller: string, most: number, all = false): Promise<LaneSettings[]> {
  if (most > 0) await tx`select take_lanes(${poller}, ${most})`;
  const free = await tx<{ id: string }[]>`
    select webhook_id as id from lanes where keeper = ${poller} ${all ? tx`` : tx`and changed`} order by webhook_id
    for no key update ${all ? tx`` : tx`skip locked`}`;
  if (free.length === 0) return [];
  // A snapshot from before the locks would not show what those who held them have changed.
  return tx<LaneSettings[]>`
    with mine as materialized (
      update lanes set changed = false, resting = false where webhook_id = any (${free.map(({ id }) => id)}::uuid[]) returning *
    ),
    flying as materialized (
      select f.webhook_id, json_agg(json_build_object('id', f.delivery_id, 'number', f.number, 'isOthers', f.poller <> ${poller}, 'loan', (
               select e.stream from deliveries d join events e on e.id = d.event_id and e.is_of_loan
               where d.id = f.delivery_id and l.in_order))) as all
      from flights() f join lanes l using (webhook_id)
      group by f.webhook_id
    )
    select m.webhook_id as "webhookId", m.partner_id as "partnerId", w.url, w.encrypted_secret as "encryptedSecret",
           w.previous_encrypted_secret as "previousEncryptedSecret", w.previous_until as "previousUntil", w.signs_from as "signsFrom",
           w.encrypted_credentials as "encryptedCredentials", w.active and p.active as "isActive", m.muted_at is not null as "isMuted",
           exists (select from failing_runs r where r.webhook_id = m.webhook_id) as "isInRun",
           m.failing_since is not null or w.refusals is not null as "isSingle", w.refusals is null as "hasAnswered", w.quiet_until as "quietUntil",
           m.max_in_flight as "maxInFlight", m.window_size as "windowSize", m.in_order as "inOrder", m.resumes_until as "resumesUntil",
           coalesce(f.all, '[]') as flying,
           exists (select from pending q where q.webhook_id = m.webhook_id and q.due_at = '-infinity') as "hasDue",
           (select nullif(q.due_at, 'infinity') from pending q
            where q.webhook_id = m.webhook_id and q.due_at > '-infinity' order by q.due_at limit 1) as "retryAt"
    from mine m
    join webhooks w on w.id = m.webhook_id
    join partners p on p.id = m.partner_id
    left join flying f on f.webhook_id = m.webhook_id`;
}

/**
 * Hands back these lanes with their windows, except those that others hold locked: it does not wait. Returns the webhooks of
 * those that it handed back.
 */
export async function handBack(tx: Tx, poller: string, lanes: readonly KeptLane[]): Promise<string[]> {
  return saveWindows(tx, poller, lanes, tx`keeper = null, changed = false,`);
}

async function saveWindows(tx: Tx, poller: string, lanes: readonly KeptLane[], besides = tx``): Promise<string[]> {
  const ids = lanes.map(({ settings }) => settings.webhookId);
  const rows = await tx<{ id: string }[]>`
    with given as materialized (
      select * from unnest(${ids}::uuid[], ${lanes.map(({ pace }) => pace.window)}::real[]) as t (id, size)
    ),
    held as materialized (
      select webhook_id from lanes where webhook_id = any (${ids}::uuid[]) and keeper = ${poller} for no key update skip locked
    )
    update lanes l set ${besides} window_size = given.size from given
    where l.webhook_id = given.id and given.id = any (array(select webhook_id from held))
    returning l.webhook_id as id`;
  return rows.map(({ id }) => id);
}

/** Marks these lanes as resting, or no longer. Returns the webhooks of the lanes that it could lock at once. */
export async function noteResting(tx: Tx, poller: string, lanes: readonly KeptLane[]): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    with held as materialized (
      select webhook_id from lanes
      where webhook_id = any (${lanes.map(({ settings }) => settings.webhookId)}::uuid[]) and keeper = ${poller} and not changed
      for no key update skip locked
    )
    update lanes set resting = not resting where webhook_id = any (array(select webhook_id from held)) returning webhook_id as id`;
  return rows.map(({ id }) => id);
}

/** After this long without a sign a poller counts as frozen: its lanes go to others; its claims stand until their leases end. */
const FROZEN_S = 5;

export interface Company {
  /** False: others have ended this poller and freed its lanes. */
  readonly isKnown: boolean;
  /** How many pollers have given a sign of life within {@link FROZEN_S}, this one among them. */
  readonly living: number;
  readonly kept: number;
  readonly hasFree: boolean;
  /** Those that have given none, and keep lanes or have no lock. One without lanes may rest for longer than that. */
  readonly silent: readonly string[];
}

/**
 * Gives the sign of life with the number of kept lanes, and reads which others keep some. A silent one may have claims left to end. It
 * writes only every other second, if nothing else has changed, and waits for no disk: an idle poller writes little.
 */
export async function heartbeat(sql: Tx, poller: string, kept: number, hasLock: boolean): Promise<Company> {
  const since = sql`clock_timestamp() - ${FROZEN_S} * interval '1 second'`;
  const [row] = await sql<[Company]>`
    with reported as (
      update keepers set seen_at = clock_timestamp(), lanes = ${kept}, has_lock = ${hasLock}
      where name = ${poller} and seen_at > '-infinity'
        and (seen_at not between clock_timestamp() - interval '1.5 seconds' and clock_timestamp() or lanes <> ${kept} or has_lock <> ${hasLock})
    )
    select exists (select from keepers where name = ${poller} and seen_at > '-infinity') as "isKnown",
           set_config('synchronous_commit', 'off', true), count(*) filter (where k.seen_at >= ${since})::int + 1 as living,
           coalesce(sum(k.lanes), 0)::int + ${kept} as kept, exists (select from lanes where coalesce(keeper, '') = '') as "hasFree",
           coalesce(array_agg(k.name) filter (
             where k.seen_at < ${since} and (not k.has_lock or exists (select from lanes l where coalesce(l.keeper, '') = k.name))
           ), '{}') as silent
    from keepers k where k.name <> ${poller}`;
  return row;
}

/** Registers the poller, with or without a lock. Returns a snapshot from which it may follow `pending` for lanes taken from now on. */
export async function enter(sql: Tx, poller: string, hasLock: boolean): Promise<string> {
  const [row] = await sql<[{ seen: string }]>`
    insert into keepers (name, has_lock) values (${poller}, ${hasLock})
    on conflict (name) do update set seen_at = clock_timestamp(), lanes = 0, has_lock = excluded.has_lock
    returning pg_current_snapshot()::text as seen`;
  return row.seen;
}

/** Hands over all lanes with their windows. Their next keepers count what is still in flight. */
export async function handOver(tx: Tx, poller: string, lanes: readonly KeptLane[]): Promise<void> {
  await saveWindows(tx, poller, lanes);
  await tx`select end_poller(${poller}, false)`;
}
