/**
 * Calls to the registry, each within a deadline and at most so many at once.
 *
 * Invariant: a caller has its end `timeoutMs` after it came, waiting for a free place included, whatever the registry
 * does; and while it waits it holds nothing but memory. The places bound what a hanging registry can pile up over there.
 * Waiting takes half of the time at most: a call that is made has the other half, or it would be charged for nothing.
 * A place is free again at the deadline, also when the adapter goes on without listening to its signal: the port
 * forbids that, and a place lost for ever would be worse. Nothing here outlives the process, so a crash leaves nothing.
 * Alternative: no bound, and a registry that answers slowly is asked by everybody at once, which makes it slower.
 */

/** `unasked`: no place was free in time. `unanswered`: the call threw, or was silent past the deadline. */
export type Called<T> = { readonly answer: T } | { readonly unanswered: unknown } | { readonly unasked: true };

export class RegistryGate {
  readonly #waiting = new Set<() => void>();
  #free: number;

  constructor(places: number) {
    this.#free = places;
  }

  /** Makes one call. Never throws. */
  async call<T>(ask: (signal: AbortSignal) => Promise<T>, timeoutMs: number): Promise<Called<T>> {
    const cameAt = performance.now();
    if (!(await this.#enter(timeoutMs / 2))) return { unasked: true };
    const deadline = new AbortController();
    const { promise: expired, reject: expire } = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => {
        const late = new Error(`no answer from the registry in ${timeoutMs} ms`);
        deadline.abort(late);
        expire(late);
      },
      timeoutMs - (performance.now() - cameAt),
    );
    try {
      return { answer: await Promise.race([ask(deadline.signal), expired]) };
    } catch (error) {
      return { unanswered: error };
    } finally {
      clearTimeout(timer);
      this.#leave();
    }
  }

  /** True with a place; false when none was free in `waitMs`. */
  async #enter(waitMs: number): Promise<boolean> {
    if (this.#free > 0) {
      this.#free -= 1;
      return true;
    }
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const timer = setTimeout(end, waitMs);
    this.#waiting.add(end);
    await ended;
    clearTimeout(timer);
    // Whoever leaves takes the one it admits out of the set, so being there still means that the time is up.
    return !this.#waiting.delete(end);
  }

  /** Hands the place to the one that has waited longest, if any. */
  #leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free += 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
