/**
 * Files of months, whole, for readers of single rows. What is in a file decides how much its parser allocates (18 KB took 571 MiB),
 * so the digest is compared before any byte is parsed. The newest files stay in memory: a delivery is looked up in three.
 */
import { type ArchivedFile, readFile } from './manifest.ts';
import type { Place } from './place.ts';

const KEPT_BYTES = 32 * 1_024 * 1_024;

export class WholeFiles {
  /** By digest; the one that was asked for last is the last. */
  readonly #kept = new Map<string, ArrayBuffer>();

  /** Throws ArchiveFault if the file's bytes differ from the manifest. */
  async read(place: Place, file: ArchivedFile): Promise<ArrayBuffer> {
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
