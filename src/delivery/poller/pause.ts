/** A pause that somebody may end early. */
export class Pause {
  #end: (() => void) | null = null;

  /** Waits `ms`, or less when {@link end} is called meanwhile. */
  async last(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#end = resolve;
    const timer = setTimeout(resolve, ms);
    await promise;
    clearTimeout(timer);
    this.#end = null;
  }

  /** Waits `ms` at most, by the clock `monotonicMs`, for `isEnough`, which is asked each time the pause is ended. */
  async until(isEnough: () => boolean, ms: number, monotonicMs: () => number): Promise<void> {
    const endMs = monotonicMs() + ms;
    for (let leftMs = ms; leftMs > 0 && !isEnough(); leftMs = endMs - monotonicMs()) await this.last(leftMs);
  }

  /** Ends the pause that is under way, if one is. */
  end(): void {
    this.#end?.();
  }
}
