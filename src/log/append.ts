/**
 * The write side of the log: facts become events, envelopes, deliveries and wake rows in the caller's transaction. The SQL function
 * `append_event` makes them, so a core in any language can call it. This file only checks each fact's data against the contract and orders
 * its keys as the catalog does.
 */
import type { ApiFamily } from '../contract/delivery.ts';
import { EVENTS, type Fact } from '../contract/events.ts';
import type { Tx } from '../db/pool.ts';
import { currentTraceparent, inSpan } from '../telemetry/traces.ts';

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
  readonly occurredAt: Date;
  readonly family?: ApiFamily;
}

/** Somebody else appended first: read the stream and decide again, in a new transaction. */
export class VersionConflict extends Error {
  override name = 'VersionConflict';
}

export class UnknownPartner extends Error {
  override name = 'UnknownPartner';
}

const VERSION_CONFLICT = 'CT409';
const UNKNOWN_PARTNER = 'CT403';

/** Appends `facts` in order; returns the stream's new version. Throws {@link VersionConflict} and {@link UnknownPartner}. */
export async function append(tx: Tx, appending: Appending): Promise<number> {
  const [{ type }, { length }] = [appending.facts[0] ?? { type: '' }, appending.facts];
  return inSpan('append', { 'carteiro.evento': type, 'carteiro.events': length }, () => appendFacts(tx, appending));
}

async function appendFacts(tx: Tx, appending: Appending): Promise<number> {
  const traceparent = currentTraceparent();
  // `from` runs before `append_event` does; the setting ends with the transaction.
  const traced = traceparent === null ? tx`` : tx`from set_config('carteiro.traceparent', ${traceparent}, true)`;
  // `decide` has judged a transfer's day, in the sandbox by another rule than the database's.
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
