export class Pause {
  #end: (() => void) | null = null;

  /** Waits `ms`, or until {@link end} is called. */
  async last(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#end = resolve;
    const timer = setTimeout(resolve, ms);
    await promise;
    clearTimeout(timer);
    this.#end = null;
  }

  /** Waits for `isEnough`, `ms` at most by `monotonicMs`; asks again each time the pause is ended. */
  async until(isEnough: () => boolean, ms: number, monotonicMs: () => number): Promise<void> {
    const endMs = monotonicMs() + ms;
    for (let leftMs = ms; leftMs > 0 && !isEnough(); leftMs = endMs - monotonicMs()) await this.last(leftMs);
  }

  end(): void {
    this.#end?.();
  }
}
