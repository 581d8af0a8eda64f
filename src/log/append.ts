/**
 * The write side of the log: facts become events, envelopes, deliveries and wake rows in the caller's transaction.
 * One SQL function makes all of them, `append_event` (drizzle/functions), so that a core in any language can call it. This file only
 * checks each fact's data against the contract and puts its keys in catalog order.
 */
import type { ApiFamily } from '../contract/delivery.ts';
import { EVENTS, type Fact } from '../contract/events.ts';
import type { Tx } from '../db/pool.ts';
import { currentTraceparent, inSpan } from '../telemetry/traces.ts';

/** Who caused an event, and for whom. */
export interface Provenance {
  readonly partnerId: string;
  /** `sub` of the token, or the name of the command or worker. */
  readonly actor: string;
  /** `requisicao_id` of the HTTP request, if one caused it. */
  readonly requestId: string | null;
}

export interface Appending extends Provenance {
  readonly stream: string;
  /** The version that the facts were decided on; 0 for a new stream. */
  readonly expectedVersion: number;
  readonly facts: readonly Fact[];
  /** Database time of the decision. */
  readonly occurredAt: Date;
  readonly family?: ApiFamily;
}

/** Somebody appended first: read the stream again and decide on its new state, in a new transaction. */
export class VersionConflict extends Error {
  override name = 'VersionConflict';
}

/** There is no partner of that id to append for. */
export class UnknownPartner extends Error {
  override name = 'UnknownPartner';
}

const VERSION_CONFLICT = 'CT409';
const UNKNOWN_PARTNER = 'CT403';

/** Appends `facts` in order and returns the stream's new version. Throws {@link VersionConflict} and {@link UnknownPartner}. */
export async function append(tx: Tx, appending: Appending): Promise<number> {
  const [{ type }, { length }] = [appending.facts[0] ?? { type: '' }, appending.facts];
  return inSpan('append', { 'carteiro.evento': type, 'carteiro.events': length }, () => appendFacts(tx, appending));
}

async function appendFacts(tx: Tx, appending: Appending): Promise<number> {
  const traceparent = currentTraceparent();
  // `from` runs before `append_event` does; the setting ends with the transaction.
  const traced = traceparent === null ? tx`` : tx`from set_config('carteiro.traceparent', ${traceparent}, true)`;
  // `decide` has judged the day of a transfer, in the sandbox by another rule than the database's.
  if (appending.facts.some(({ type }) => type === 'desembolso.liquidado'))
    await tx`select set_config('carteiro.day_is_judged', 'yes', true)`;
  const { stream, partnerId, actor, requestId, occurredAt, family = 'backoffice' } = appending;
  let version = appending.expectedVersion;
  for (const fact of appending.facts) {
    const data = JSON.stringify(EVENTS[fact.type].data.parse(fact.data));
    try {
      await tx`
        select append_event(
          ${stream}, ${version}, ${fact.type}, ${partnerId}, ${data}::text::json,
          ${actor}, ${requestId}, ${occurredAt}, ${family}
        ) ${traced}`;
    } catch (error) {
      const { code } = error as { code?: unknown };
      if (code === UNKNOWN_PARTNER)
        throw new UnknownPartner(`there is no partner ${partnerId}, or the stream is another's`, { cause: error });
      if (code !== VERSION_CONFLICT) throw error;
      throw new VersionConflict(`stream ${stream} is not at version ${version}`, { cause: error });
    }
    version += 1;
  }
  return version;
}
