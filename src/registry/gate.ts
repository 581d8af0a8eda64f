/**
 * Calls to the registry, each with a deadline, and a bound on the calls at once. A slot is the permission for one call.
 *
 * Invariant: `timeoutMs` after a caller came, it has an answer or a refusal, whatever the registry does; the wait for a slot
 * counts. A waiting caller holds nothing but memory. The slots bound the calls that pile up at a hanging registry.
 * The wait takes at most half of the deadline. The call has the other half, because the registry may charge for a call that
 * we give up on. At the deadline the slot is free again, even if the adapter ignores its signal: the port forbids that, and a
 * slot lost for ever would be worse. Nothing here outlives the process, so a crash leaves nothing.
 * Alternative: no bound. Then everybody asks a slow registry at once, which makes it slower.
 */

/** `unasked`: no slot was free in time. `unanswered`: the call threw, or was silent past the deadline. */
export type Called<T> = { readonly answer: T } | { readonly unanswered: unknown } | { readonly unasked: true };

export class RegistryGate {
  readonly #waiting = new Set<() => void>();
  #free: number;

  constructor(slots: number) {
    this.#free = slots;
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

  /** True with a slot; false when none was free in `waitMs`. */
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
    // #leave removes the caller that it admits from the set, so a caller still in it has waited too long.
    return !this.#waiting.delete(end);
  }

  /** Hands the slot to the caller that has waited longest, if any. */
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
