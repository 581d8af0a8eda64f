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

  /** Ends the pause that is under way, if one is. */
  end(): void {
    this.#end?.();
  }
}
