/**
 * Files of months, whole, for readers of single rows. What is in a file decides how much its parser allocates (18 KB took 571 MiB),
 * so the digest is compared before any byte is parsed. The newest files stay in memory: a delivery is looked up in three.
 */
import pLimit from 'p-limit';
import { ArchiveFault } from './archive-fault.ts';
import { type ArchivedFile, readFile } from './manifest.ts';
import type { Place } from './place.ts';

const KEPT_BYTES = 32 * 1_024 * 1_024;
/** Looks into files. One for an id that no file has costs 10 ms of CPU; 128 of them at once took 600 MiB, and others waited for 2 s. */
const AT_ONCE = 2;
/** A turn that comes later, as behind a place that does not answer, is none. */
const LONGEST_WAIT_MS = 30_000;

export class WholeFiles {
  /** By digest; the one that was asked for last is the last. */
  readonly #kept = new Map<string, ArrayBuffer>();
  readonly #turns = pLimit(AT_ONCE);

  /** What `look`, which reads no other file, finds in the file, when it is its turn. Throws ArchiveFault if the file's bytes differ from the manifest, or no turn comes. */
  async read<T>(place: Place, file: ArchivedFile, look: (bytes: ArrayBuffer) => Promise<T>): Promise<T> {
    const askedMs = performance.now();
    return this.#turns(async () => {
      if (performance.now() - askedMs > LONGEST_WAIT_MS)
        throw new ArchiveFault(`${place.name}/${file.nome} cannot be read: too many wait for archived months`);
      return look(await this.#bytes(place, file));
    });
  }

  async #bytes(place: Place, file: ArchivedFile): Promise<ArrayBuffer> {
    const bytes = this.#kept.get(file.sha256) ?? new Uint8Array(await readFile(place, file)).buffer;
    this.#kept.delete(file.sha256);
    this.#kept.set(file.sha256, bytes);
    let sum = [...this.#kept.values()].reduce((total, { byteLength }) => total + byteLength, 0);
    for (const [digest, { byteLength }] of this.#kept) {
      if (sum <= KEPT_BYTES) break;
      this.#kept.delete(digest);
      sum -= byteLength;
    }
    return bytes;
  }
}
