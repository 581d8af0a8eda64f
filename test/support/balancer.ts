/**
 * A load balancer as small as one can be: it sends each request to the next instance whose `/readyz` last said 200, tries
 * nothing twice, and keeps connections open.
 */
import { setTimeout as sleep } from 'node:timers/promises';

const PROBE_EVERY_MS = 50;
/** An answer is good for this long from when it was asked: longer than a probe takes, shorter than the instances' delay. */
const GOOD_FOR_MS = 1_000;

interface Instance {
  readonly url: string;
  /** When the last probe that was answered with 200 was asked; null while the last one was not. */
  readyAtMs: number | null;
}

export class Balancer {
  readonly #instances: Instance[] = [];
  readonly #probing = new Set<Promise<void>>();
  /** What was not answered, or by a 5xx. */
  readonly refused: string[] = [];
  answered = 0;
  #next = 0;
  #isClosed = false;

  /** Takes an instance in; resolves when it is ready. */
  async add(url: string): Promise<void> {
    const instance: Instance = { url, readyAtMs: null };
    this.#instances.push(instance);
    this.#probing.add(this.#probe(instance));
    while (instance.readyAtMs === null) await sleep(PROBE_EVERY_MS);
  }

  async send(path: string, init: RequestInit): Promise<Response | null> {
    const instance = await this.#choose();
    try {
      const response = await fetch(`${instance.url}${path}`, init);
      await response.clone().arrayBuffer();
      if (response.status >= 500) throw new Error(`${response.status} ${await response.text()}`);
      this.answered += 1;
      return response;
    } catch (error) {
      const { message, cause } = error as Error;
      this.refused.push(`${path}: ${message} ${cause instanceof Error ? cause.message : ''}`);
      return null;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#probing);
  }

  async #choose(): Promise<Instance> {
    for (;;) {
      const good = this.#instances.filter(
        ({ readyAtMs }) => readyAtMs !== null && performance.now() - readyAtMs < GOOD_FOR_MS,
      );
      const chosen = good[(this.#next += 1) % good.length];
      if (chosen !== undefined) return chosen;
      await sleep(5);
    }
  }

  async #probe(instance: Instance): Promise<void> {
    while (!this.#isClosed) {
      const askedAtMs = performance.now();
      const isReady = await fetch(`${instance.url}/readyz`).then(
        async (response) => {
          await response.arrayBuffer();
          return response.status === 200;
        },
        () => false,
      );
      instance.readyAtMs = isReady ? askedAtMs : null;
      await sleep(PROBE_EVERY_MS);
    }
  }
}
