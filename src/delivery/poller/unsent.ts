/** Claimed deliveries that are not sent: given back, postponed by a fault of ours, or ended because the event is unreadable or erased. */
import { logFailedTry } from '../../db/outage-log.ts';
import type { Tx } from '../../db/pool.ts';
import type { DeliveryMetrics } from '../../telemetry/delivery-metrics.ts';
import type { ClaimedDelivery } from '../queue/claim.ts';
import type { EngineDeps } from '../queue/engine-deps.ts';
import { endUnsent, noteSendFault, putOff, withdraw } from '../queue/release.ts';
import type { Claim } from './claimer.ts';

interface UnsentDeps extends EngineDeps {
  readonly name: string;
  readonly metrics?: DeliveryMetrics;
  readonly letGo: (claim: Claim, deliveries: readonly ClaimedDelivery[]) => void;
}

/** A delivery that a fault of ours blocks is tried again after this long. */
const FAULT_DELAY_S = 60;
/** A busy server may cancel a statement. A lease left to expire would log an attempt that nobody made. */
const TRIES = 3;

export class Unsent {
  readonly #deps: UnsentDeps;

  constructor(deps: UnsentDeps) {
    this.#deps = deps;
  }

  giveBack(claim: Claim, deliveries: readonly ClaimedDelivery[]): void {
    const ids = deliveries.map(({ id }) => id);
    void this.#persist((tx) => withdraw(tx, this.#deps.name, claim.number, ids))
      .catch((error: unknown) =>
        logFailedTry(this.#deps.log, error, 'cannot release unsent deliveries: they are due again'),
      )
      .then(() => this.#deps.letGo(claim, deliveries));
  }

  giveUp(claim: Claim, delivery: ClaimedDelivery, error: Error): void {
    const { id, webhookId } = delivery;
    const fields = { delivery_id: id, webhook_id: webhookId, error: error.message };
    this.#deps.log.error(fields, 'a fault of ours kept a delivery from being sent');
    this.#deps.metrics?.countSendFault();
    this.#end(claim, delivery, async (tx) => {
      await withdraw(tx, this.#deps.name, claim.number, [delivery.id]);
      await putOff(tx, delivery, FAULT_DELAY_S, this.#deps.now());
      await noteSendFault(tx, webhookId, error.message);
    });
  }

  endUnreadable(claim: Claim, delivery: ClaimedDelivery): void {
    this.#deps.metrics?.countUnreadable();
    this.#end(claim, delivery, async (tx) => {
      const eventId = await endUnsent(tx, delivery, 'é ilegível');
      this.#deps.log.error(
        { delivery_id: delivery.id, event_id: eventId },
        'an event that nobody can read is not sent',
      );
    });
  }

  endErased(claim: Claim, delivery: ClaimedDelivery): void {
    this.#end(claim, delivery, (tx) => endUnsent(tx, delivery, 'foi apagado'));
  }

  /** If every try fails the delivery is due again; nothing was sent. */
  #end(claim: Claim, delivery: ClaimedDelivery, write: (tx: Tx) => Promise<unknown>): void {
    const { log, letGo } = this.#deps;
    void this.#persist(write)
      .catch((error: unknown) => logFailedTry(log, error, 'cannot put off an unsent delivery: it is due again'))
      .then(() => letGo(claim, [delivery]));
  }

  /** The writes are fenced by the attempt's number, so repeating after an unknown commit is safe. */
  async #persist(write: (tx: Tx) => Promise<unknown>): Promise<void> {
    for (let left = TRIES - 1; ; left -= 1) {
      try {
        await this.#deps.pool.transaction(write);
        return;
      } catch (error) {
        if (left === 0) throw error;
      }
    }
  }
}
