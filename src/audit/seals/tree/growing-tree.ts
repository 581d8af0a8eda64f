/** The log's tree as it grows leaf by leaf: the roots of its full subtrees, one for each 1 in the binary form of its size. */
import { type ReadHashes, rangeRoot, rootOf, type TreeHead } from './merkle.ts';

interface Half {
  readonly size: number;
  readonly root: Buffer;
}

export class GrowingTree {
  readonly #halves: Half[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The tree of the first `size` leaves, of stored hashes. */
  static async of(read: ReadHashes, size: number): Promise<GrowingTree> {
    const tree = new GrowingTree();
    for (let bit = 2 ** Math.floor(Math.log2(size || 1)); bit >= 1; bit /= 2) {
      if (Math.floor(size / bit) % 2 === 0) continue;
      tree.#halves.push({ size: bit, root: await rangeRoot(read, tree.#size, tree.#size + bit) });
      tree.#size += bit;
    }
    return tree;
  }

  /** Appends a leaf; returns the roots of the subtrees that it completes, from two leaves on. */
  append(leaf: Buffer): readonly Half[] {
    const completed: Half[] = [];
    let last: Half = { size: 1, root: leaf };
    for (let before = this.#halves.at(-1); before?.size === last.size; before = this.#halves.at(-1)) {
      this.#halves.pop();
      last = { size: last.size * 2, root: rootOf(Buffer.concat([before.root, last.root])) };
      completed.push(last);
    }
    this.#halves.push(last);
    this.#size += 1;
    return completed;
  }

  /** Null while it is empty. */
  head(): TreeHead | null {
    const [last, ...before] = this.#halves.map(({ root }) => root).toReversed();
    if (last === undefined) return null;
    const root = before.reduce((right, left) => rootOf(Buffer.concat([left, right])), last);
    return { size: this.#size, root };
  }
}
