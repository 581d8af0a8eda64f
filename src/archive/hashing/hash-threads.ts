/** Threads that hash parts of months ({@link hashFiles}), each one part at a time: Node's own thread reads rows of the database meanwhile. */
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { isMainThread, parentPort, type TransferListItem, Worker } from 'node:worker_threads';
import { codeOf } from '../../db/unavailable.ts';
import { ArchiveFault } from '../archive-fault.ts';
import { type HashedPart, hashFiles, type PartFile } from './hash-files.ts';

/** One for each core, as far as the memory of a job reaches (400 MiB): one takes some 60, and the rest of the process 150. */
export const THREADS = Math.min(availableParallelism(), 3);
const OUT_OF_MEMORY = 'ERR_WORKER_OUT_OF_MEMORY';
/** MiB of a thread's heap; a part takes some 60. */
const LIMITS = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 24 };

interface Task {
  readonly files: readonly PartFile[];
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
  #isClosed = false;

  /** `read`: is called when a thread is free. Throws {@link ArchiveFault} as {@link hashFiles}, and if a thread has not the memory for it. */
  async hash(read: () => Promise<PartFile[]>, ends: readonly number[]): Promise<HashedPart> {
    const thread = this.#threads[(this.#next += 1) % THREADS] as Thread;
    const hashed = thread.last.then(async () => {
      const files = await read();
      if (this.#isClosed) throw new Error('the threads that hash are closed');
      thread.worker ??= startWorker(thread);
      thread.worker.postMessage(
        { files, ends } satisfies Task,
        files.map(({ bytes }) => bytes),
      );
      const [answer] = (await once(thread.worker, 'message').catch((error: unknown) => {
        if (codeOf(error) !== OUT_OF_MEMORY) throw error;
        const names = files.map(({ file }) => file.nome).join(', ');
        throw new ArchiveFault(`a thread has not the memory to hash ${names}`, { cause: error });
      })) as [HashedPart | Error];
      if (answer instanceof Error) throw new ArchiveFault(answer.message, { cause: answer });
      const { hashes, roots, streams } = answer;
      return { ...answer, hashes: bufferOf(hashes), roots: bufferOf(roots), streams: bufferOf(streams) };
    });
    thread.last = hashed.catch(() => undefined);
    return hashed;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
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
