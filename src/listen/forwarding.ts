/** Open deliveries: each is retried until it arrives or is given up, at most MAX_IN_FLIGHT at once. */
import { shown } from './feed-api.ts';
import pLimit from 'p-limit';
import type { Forwarded, Tried } from './forward.ts';

/** Seconds between attempts: the real schedule, shortened for someone who watches. */
const RETRY_DELAYS_S = [2, 5, 15, 30, 60];
const MAX_ATTEMPTS = RETRY_DELAYS_S.length + 1;
const MAX_IN_FLIGHT = 8;
/** With this many open deliveries no further page is read. */
const MAX_OPEN = 500;

/** Resolves after this time, or when `stopping` is aborted. */
type Pause = (ms: number, stopping: AbortSignal) => Promise<void>;

export interface ForwardingOptions {
  readonly attempt: (delivery: Forwarded) => Promise<Tried>;
  readonly tell: (line: string) => void;
  readonly pause: Pause;
  readonly stopping: AbortSignal;
}

export class Forwarding {
  readonly #options: ForwardingOptions;
  readonly #limit = pLimit(MAX_IN_FLIGHT);
  readonly #open = new Set<Promise<void>>();
  #unfinished = 0;

  constructor(options: ForwardingOptions) {
    this.#options = options;
  }

  take(deliveries: readonly Forwarded[]): void {
    this.#unfinished += deliveries.length;
    for (const delivery of deliveries) {
      const open = this.#forward(delivery).then((isFinished) => {
        if (isFinished) this.#unfinished -= 1;
        this.#open.delete(open);
      });
      this.#open.add(open);
    }
  }

  /** Resolves when there is room for another page, or on stopping. */
  async room(): Promise<void> {
    while (this.#open.size >= MAX_OPEN) await Promise.race(this.#open);
  }

  /** Waits for the attempts under way; until `stopping` retries go on. */
  async end(): Promise<void> {
    await Promise.all(this.#open);
  }

  /** Neither delivered nor given up. */
  get unfinished(): number {
    return this.#unfinished;
  }

  /** False when it was stopped before the end. */
  async #forward(delivery: Forwarded): Promise<boolean> {
    const { attempt, tell, pause, stopping } = this.#options;
    const said = `${shown(delivery.event)}  ${shown(delivery.id)}`;
    for (let number = 1; ; number += 1) {
      const tried = await this.#limit(async () => (stopping.aborted ? null : attempt(delivery)));
      if (tried === null) return false;
      if (tried.isDelivered) {
        tell(`${said}  ${tried.text}`);
        return true;
      }
      const delayS = RETRY_DELAYS_S[number - 1];
      const next = delayS === undefined ? 'given up' : `again in ${delayS} s`;
      tell(`${said}  attempt ${number} of ${MAX_ATTEMPTS} failed: ${tried.text}; ${next}`);
      if (delayS === undefined) return true;
      await pause(delayS * 1_000, stopping);
    }
  }
}
