/** Threads that hash parts of months ({@link hashFiles}), each one part at a time: Node's own thread reads rows of the database meanwhile. */
import { once } from 'node:events';
import { isMainThread, parentPort, type TransferListItem, Worker } from 'node:worker_threads';
import { type HashedPart, hashFiles } from './hash-files.ts';

/** More would not be faster on two cores, and all take memory. */
export const THREADS = 2;
/** MiB of a thread's heap; a part takes some 60. */
const LIMITS = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 24 };

interface Task {
  readonly files: readonly ArrayBuffer[];
  readonly ends: readonly number[];
}

interface Thread {
  worker?: Worker;
  last: Promise<unknown>;
}

export class HashThreads {
  readonly #threads: readonly Thread[] = Array.from({ length: THREADS }, () => ({
    last: Promise.resolve(),
  }));
  #next = 0;

  /** `read`: is called when a thread is free. */
  async hash(read: () => Promise<ArrayBuffer[]>, ends: readonly number[]): Promise<HashedPart> {
    const thread = this.#threads[(this.#next += 1) % THREADS] as Thread;
    const hashed = thread.last.then(async () => {
      const files = await read();
      thread.worker ??= startWorker(thread);
      thread.worker.postMessage({ files, ends } satisfies Task, files);
      const [answer] = (await once(thread.worker, 'message')) as [HashedPart | Error];
      if (answer instanceof Error) throw answer;
      const { hashes, roots, streams } = answer;
      return { ...answer, hashes: bufferOf(hashes), roots: bufferOf(roots), streams: bufferOf(streams) };
    });
    thread.last = hashed.catch(() => undefined);
    return hashed;
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map(async ({ worker }) => worker?.terminate()));
  }
}

/** One that failed to read or to hash a part hashes the next; only one that died is replaced. */
function startWorker(thread: Thread): Worker {
  const worker = new Worker(import.meta.filename, { resourceLimits: LIMITS });
  return worker.once('error', () => delete thread.worker);
}

/** A message has bare bytes. */
const bufferOf = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);

async function answer({ files, ends }: Task): Promise<void> {
  try {
    const part = await hashFiles(files, ends);
    parentPort?.postMessage(part, [part.hashes.buffer, part.kinds.buffer] as TransferListItem[]);
  } catch (error) {
    parentPort?.postMessage(error, []);
  }
}

if (!isMainThread) parentPort?.on('message', (task: Task) => void answer(task));
