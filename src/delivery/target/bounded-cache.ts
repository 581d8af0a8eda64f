/** Made once for each name. A failure is not kept. Beyond `most` all are forgotten, which is rare, and cheaper than an order of use. */
export class BoundedCache<T> {
  readonly #most: number;
  readonly #known = new Map<string, T>();

  constructor(most: number) {
    this.#most = most;
  }

  get(name: string, make: () => T): T {
    const found = this.#known.get(name);
    if (found !== undefined) return found;
    const made = make();
    if (this.#known.size >= this.#most) this.#known.clear();
    this.#known.set(name, made);
    return made;
  }
}
