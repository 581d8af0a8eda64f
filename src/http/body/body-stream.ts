/** Reads a body with a limit on its size and, where other requests wait for its turn, a least speed. */
import { ApiError } from '../api-error.ts';

/** Once `graceMs` have passed, the average since then must be at least `bytesPerS`; infinitely many: all must have come by then. */
export interface Pace {
  readonly graceMs: number;
  readonly bytesPerS: number;
}

/** Bytes read beyond the limit and dropped: a connection closed with an unread body loses the client's next request. */
const READ_ON_BYTES = 1024 * 1024;

/** Reads all of `body`. Throws 413, or 400 when it falls behind its pace. */
export async function readStream(
  body: ReadableStream<Uint8Array> | null,
  maxBytes: number,
  pace: Pace,
): Promise<Buffer> {
  if (!body) return Buffer.alloc(0);
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = body.getReader();
  const { promise: slow, stop } = watch(pace, () => length);
  try {
    // A slow body is left unread. Cancelled, its sender would see a reset instead of the answer.
    const next = () => Promise.race([reader.read(), slow]);
    for (let read = await next(); !read.done; read = await next()) {
      length += read.value.length;
      if (length <= maxBytes) chunks.push(read.value);
      else if (length > maxBytes + READ_ON_BYTES) break;
    }
  } finally {
    stop();
  }
  if (length > maxBytes) throw tooLarge(maxBytes);
  return Buffer.concat(chunks);
}

/** A promise that rejects when fewer bytes have come than `pace` asks for by then. */
export function watch(
  pace: Pace,
  received: () => number,
): { readonly promise: Promise<never>; readonly stop: () => void } {
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => undefined);
  const { graceMs, bytesPerS } = pace;
  const startedMs = performance.now();
  const timer = setInterval(() => {
    const askedForMs = performance.now() - startedMs - graceMs;
    if (received() < (askedForMs / 1_000) * bytesPerS) reject(tooSlow(pace));
  }, graceMs / 10);
  return { promise, stop: () => clearInterval(timer) };
}

function tooSlow({ graceMs, bytesPerS }: Pace): ApiError {
  const rule =
    bytesPerS === Infinity
      ? `um corpo de até 64 KiB chega em ${graceMs / 1_000} s`
      : `um corpo grande traz ao menos ${bytesPerS / 1024} KiB por segundo`;
  return new ApiError('ERRO_VALIDACAO', `o corpo veio devagar demais: ${rule}`);
}

export function tooLarge(maxBytes: number): ApiError {
  return new ApiError('CORPO_MUITO_GRANDE', `o corpo passa de ${sizeText(maxBytes)}`);
}

/** `64 KiB`, `56 MiB`. */
export function sizeText(bytes: number): string {
  return bytes < 1024 * 1024 ? `${bytes / 1024} KiB` : `${bytes / 1024 / 1024} MiB`;
}
