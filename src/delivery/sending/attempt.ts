/** One attempt: undici's callbacks for one POST, and the two moments at which the sender's clock ends it. See send.ts for the invariant. */
import type { Dispatcher } from 'undici';
import { type AnswerHeaders, keptAnswer } from './answer.ts';
import type { Connection, Place } from './connection.ts';
import type { Connections } from './connections.ts';
import { ConnectFault } from '../target/connect-fault.ts';
import { type Destination, type SendRequest, type SendResult, WAITED_FOR } from './exchange.ts';
import { MAX_UNENDED_BYTES, type UnendedBytes } from './unended-bytes.ts';
import { readBentHead } from './malformed-head.ts';
import { faultText, isClosedByReceiver, isOurs, isUnparsed, outcomeOfFault } from './send-fault.ts';

/** After this many interim (1xx) answers the connection is closed, and the attempt waits for its deadline. */
const MAX_INTERIM_ANSWERS = 1_000;

export interface Shared {
  readonly connections: Connections;
  readonly timeoutMs: number;
  /** Bytes kept of an answer's body, at most; with 0 nothing of an answer is kept. */
  readonly keptBytes: number;
  /** How long an attempt waits for the rest of its answer, and how much it reads; what comes later drains (connections.ts). */
  readonly readMs: number;
  readonly readBytes: number;
  readonly now: () => number;
  readonly underWay: Set<Attempt>;
  readonly unended: UnendedBytes;
  readonly quiet: { on: (() => void) | null };
}

const DEADLINE = new Error('o prazo da tentativa passou');

export class Attempt implements Dispatcher.DispatchHandler {
  readonly result: Promise<SendResult>;
  readonly #startedAtMs: number;
  #answeredAtMs = 0;
  #shared: Shared;
  #place: Place;
  #options: Dispatcher.DispatchOptions;
  #resolve!: (result: SendResult) => void;
  #reject!: (error: Error) => void;
  #connection!: Connection;
  #state: 'waiting' | 'cut' | 'reading' | 'over' = 'waiting';
  /** Address of the connection that broke under the first writing. */
  #brokenAddress: string | null = null;
  #hasAnswerByte = false;
  #interimAnswers = 0;
  #unendedBytes = 0;
  #statusCode = 0;
  #headers: AnswerHeaders = {};
  #answer: Buffer[] = [];
  #keptBytes = 0;
  #readBytes = 0;

  constructor(shared: Shared, { place, path }: Destination, request: SendRequest, startedAtMs: number) {
    const { method = 'POST', body, headers } = request;
    this.#shared = shared;
    this.#place = place;
    this.#options = { path, method, headers, body };
    this.#startedAtMs = startedAtMs;
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    shared.underWay.add(this);
    this.#dispatch(false);
  }

  /** Ends the attempt when its time for the status line or for the rest of the answer is over. */
  checkTime(atMs: number): void {
    if (this.#state === 'reading') {
      if (this.#answeredAtMs + this.#shared.readMs <= atMs) this.#stopReading();
    } else if (this.#startedAtMs + this.#shared.timeoutMs <= atMs) this.#expire();
    else if (this.#state === 'waiting') this.#shared.connections.makeRoomFor(this.#connection);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#state === 'waiting' && !this.#isLate()) return;
    if (this.#state === 'waiting') this.#expire();
    controller.abort(DEADLINE);
  }

  onResponseStarted(): void {
    this.#hasAnswerByte = true;
  }

  onResponseStart(_controller: Dispatcher.DispatchController, statusCode: number, headers: AnswerHeaders): void {
    if (this.#state !== 'waiting') return;
    if (this.#isLate()) return this.#expire();
    if (statusCode < 200) return this.#countInterim();
    this.#connection.answerStart.chunk = null;
    this.#readHead(statusCode, headers);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#state !== 'reading') return;
    this.#readBytes += chunk.length;
    const { keptBytes } = this.#shared;
    if (this.#keptBytes < keptBytes) {
      // A copy, because the chunk is a view of a much larger buffer.
      const part = Buffer.from(chunk.subarray(0, keptBytes - this.#keptBytes));
      this.#answer.push(part);
      this.#keptBytes += part.length;
    }
    if (this.#readBytes > this.#shared.readBytes) this.#stopReading();
  }

  onResponseEnd(): void {
    if (this.#state === 'waiting' || this.#state === 'cut') return;
    this.#shared.connections.release(this.#connection);
    if (this.#state === 'reading') this.#finish();
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, clientError: Error): void {
    if (this.#state === 'cut' || this.#state === 'over') return;
    this.#shared.connections.discard(this.#connection);
    if (this.#state === 'reading') return this.#finish();
    if (isUnparsed(clientError)) return this.#endUnparsed(clientError);
    const error = this.#connection.fault ?? clientError;
    if (this.#mayRepeat(error)) {
      this.#brokenAddress = this.#connection.address;
      return this.#dispatch(true);
    }
    if (isOurs(error)) {
      this.#reject(error);
      return this.#end();
    }
    this.#fail(outcomeOfFault(error), error);
  }

  #readHead(statusCode: number, headers: AnswerHeaders): void {
    this.#statusCode = statusCode;
    this.#headers = headers;
    this.#answeredAtMs = this.#shared.now();
    this.#state = 'reading';
  }

  /** The status line counts where the head can be read leniently (malformed-head.ts). */
  #endUnparsed(error: Error): void {
    const { statusCode, headers, body } = readBentHead(this.#connection.answerStart.chunk ?? Buffer.alloc(0));
    if (statusCode === null || headers === null) return this.#fail(outcomeOfFault(error), error, statusCode);
    this.#readHead(statusCode, headers);
    this.#answer = [body.subarray(0, this.#shared.keptBytes)];
    this.#readBytes = body.length;
    this.#keptBytes = Math.min(body.length, this.#shared.keptBytes);
    this.#finish();
  }

  #dispatch(isFresh: boolean): void {
    this.#connection = this.#shared.connections.take(this.#place, isFresh);
    this.#connection.onBytes = (bytes) => this.#onBytes(bytes);
    this.#connection.client.dispatch(this.#options, this);
  }

  #onBytes(bytes: number): void {
    if (this.#state === 'reading' && bytes > MAX_UNENDED_BYTES + this.#shared.readBytes) return this.#stopReading();
    if (this.#state !== 'waiting') return;
    this.#setUnended(bytes);
    if (bytes > this.#shared.unended.limit) this.#cut();
  }

  #setUnended(bytes: number): void {
    this.#shared.unended.add(bytes - this.#unendedBytes);
    this.#unendedBytes = bytes;
  }

  #isLate(): boolean {
    return this.#shared.now() - this.#startedAtMs >= this.#shared.timeoutMs;
  }

  /** Never true twice: the second connection is new. */
  #mayRepeat(error: Error): boolean {
    if (this.#hasAnswerByte || this.#isLate()) return false;
    return this.#connection.served > 0 && isClosedByReceiver(error);
  }

  #countInterim(): void {
    this.#interimAnswers += 1;
    if (this.#interimAnswers > MAX_INTERIM_ANSWERS) this.#cut();
  }

  /** A flood: closes the connection; the attempt waits for its deadline. */
  #cut(): void {
    this.#state = 'cut';
    this.#setUnended(0);
    this.#shared.connections.discard(this.#connection);
  }

  #expire(): void {
    this.#fail('tempo_esgotado', null);
    this.#shared.connections.discard(this.#connection);
  }

  #stopReading(): void {
    this.#finish();
    this.#shared.connections.drain(this.#connection);
  }

  #fail(outcome: SendResult['outcome'], error: Error | null, refusedStatus: number | null = null): void {
    const { now, timeoutMs } = this.#shared;
    const faultAddress = error instanceof ConnectFault ? error.address : null;
    this.#resolve({
      outcome,
      statusCode: null,
      durationMs: Math.round(now() - this.#startedAtMs),
      address: this.#connection.address ?? faultAddress ?? this.#brokenAddress,
      error:
        error === null
          ? `TEMPO_ESGOTADO: ${WAITED_FOR[this.#connection.stage ?? 'answer']} em ${timeoutMs} ms`
          : faultText(error, refusedStatus),
      answer: null,
    });
    this.#end();
  }

  #finish(): void {
    this.#resolve({
      outcome: this.#statusCode < 300 ? 'entregue' : 'resposta_nao_2xx',
      statusCode: this.#statusCode,
      durationMs: Math.round(this.#answeredAtMs - this.#startedAtMs),
      address: this.#connection.address,
      error: null,
      answer: this.#kept(),
    });
    this.#end();
  }

  #kept(): string | null {
    if (this.#shared.keptBytes === 0) return null;
    return keptAnswer(this.#headers, Buffer.concat(this.#answer), this.#readBytes > this.#keptBytes);
  }

  #end(): void {
    const { underWay, quiet } = this.#shared;
    this.#state = 'over';
    this.#setUnended(0);
    underWay.delete(this);
    if (underWay.size === 0) quiet.on?.();
  }
}
