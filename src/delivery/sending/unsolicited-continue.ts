/**
 * An unrequested `100 Continue`. A client must accept any interim answer (RFC 9110, 15.2), and some receivers and proxies send 100
 * unasked. undici breaks the connection over it, so every attempt would fail. We show undici 102 instead, which it skips.
 * Not covered: a 100 whose status line is split between chunks, or follows an interim answer that is, or that says HTTP/1.0 or `Connection:
 * close`.
 */
import type { Socket } from 'node:net';

const VERSION = 'HTTP/1.1 ';
const HEAD_END = '\r\n\r\n';
const [DIGIT_0, DIGIT_1, DIGIT_2] = Buffer.from('012');

/** Turns 100 into 102 in the interim answers at the start of `chunk`; true when the next answer begins behind it. */
function softenContinues(chunk: Buffer): boolean {
  let at = 0;
  // Cheap test first: most chunks do not begin with an interim answer.
  while (chunk[at + VERSION.length] === DIGIT_1 && chunk.toString('latin1', at, at + VERSION.length) === VERSION) {
    const last = at + VERSION.length + 2;
    if (chunk[last - 1] === DIGIT_0 && chunk[last] === DIGIT_0) chunk[last] = DIGIT_2 as number;
    const end = chunk.indexOf(HEAD_END, at);
    if (end < 0) return false;
    at = end + HEAD_END.length;
  }
  return at === chunk.length;
}

export interface AnswerStart {
  /** The next bytes begin an answer. */
  isNext: boolean;
  /** The chunk that began the answer, until its head has been read. */
  chunk: Buffer | null;
}

export function bearContinues(socket: Socket, start: AnswerStart): void {
  const read = socket.read.bind(socket);
  socket.read = (size) => {
    const chunk = read(size) as Buffer | null;
    if (chunk === null || !start.isNext) return chunk;
    start.chunk = chunk;
    start.isNext = softenContinues(chunk);
    return chunk;
  };
}
