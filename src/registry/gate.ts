/**
 * Calls to the registry, each with a deadline, a limit on concurrent calls (slots), and a circuit breaker.
 *
 * Invariant: `timeoutMs` after its call, a caller has an answer or an exception, whatever the registry does. Waiting for a slot
 * counts, and takes at most half of that, because the registry may charge for a call that we abort. The deadline frees the slot
 * even if the adapter ignores its signal. After FAILURES exceptions in a row the breaker opens: for `openMs` every call throws
 * immediately. Then a probe asks whether the registry is in service, and closes the breaker or keeps it open for as long again.
 * Alternative: cockatiel would use the next paid call as the probe.
 */
import pLimit, { type LimitFunction } from 'p-limit';
import type { BondQuery } from './bonds-port.ts';
import { type EmploymentRegistry, NotAsked, RegistryFailure } from './port.ts';

export const BREAKER_FAILURES = 5;
const OPEN_MS = 30_000;

type CallOutcome = 'answered' | 'failed' | 'not_asked';

export interface GateOptions {
  /** Concurrent calls. */
  readonly slots: number;
  readonly timeoutMs: number;
  readonly probe?: (signal: AbortSignal) => Promise<unknown>;
  readonly openMs?: number;
  readonly onCall?: (outcome: CallOutcome) => void;
  readonly onBreaker?: (isOpen: boolean) => void;
}

export class RegistryGate {
  readonly #options: GateOptions;
  readonly #limit: LimitFunction;
  #failures = 0;
  #probing: NodeJS.Timeout | null = null;

  constructor(options: GateOptions) {
    this.#options = options;
    this.#limit = pLimit(options.slots);
  }

  get isOpen(): boolean {
    return this.#probing !== null;
  }

  /** Throws {@link NotAsked}, or what the call threw. */
  async call<T>(ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { timeoutMs } = this.#options;
    const endsAt = performance.now() + timeoutMs;
    if (this.isOpen) throw this.#notAsked('open');
    const { promise: tooLate, reject: giveUp } = Promise.withResolvers<never>();
    let hasLeft = false;
    const patience = setTimeout(() => {
      hasLeft = true;
      giveUp(this.#notAsked('busy'));
    }, timeoutMs / 2);
    const called = this.#limit(async () => {
      if (hasLeft) return tooLate;
      clearTimeout(patience);
      if (this.isOpen) throw this.#notAsked('open');
      return this.#make(ask, endsAt);
    });
    return Promise.race([called, tooLate]);
  }

  close(): void {
    if (this.#probing !== null) clearTimeout(this.#probing);
  }

  #notAsked(why: NotAsked['why']): NotAsked {
    this.#options.onCall?.('not_asked');
    return new NotAsked(why);
  }

  async #make<T>(ask: (signal: AbortSignal) => Promise<T>, endsAt: number): Promise<T> {
    const { timeoutMs, onCall } = this.#options;
    try {
      const answer = await within(endsAt - performance.now(), timeoutMs, ask);
      this.#failures = 0;
      onCall?.('answered');
      return answer;
    } catch (error) {
      this.#failures += 1;
      onCall?.('failed');
      if (this.#failures >= BREAKER_FAILURES && this.#options.probe !== undefined && !this.isOpen) {
        this.#options.onBreaker?.(true);
        this.#probeLater();
      }
      throw error;
    }
  }

  #probeLater(): void {
    this.#probing = setTimeout(() => void this.#probe(), this.#options.openMs ?? OPEN_MS).unref();
  }

  async #probe(): Promise<void> {
    const { probe, timeoutMs, onBreaker } = this.#options;
    try {
      await within(timeoutMs, timeoutMs, async (signal) => probe?.(signal));
      this.#probing = null;
      this.#failures = 0;
      onBreaker?.(false);
    } catch {
      this.#probeLater();
    }
  }
}

/** The result of `ask` within `leftMs`; afterwards its signal aborts, and this throws. */
async function within<T>(leftMs: number, timeoutMs: number, ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const deadline = new AbortController();
  const { promise: expired, reject: expire } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const late = new RegistryFailure(`no answer from the registry in ${timeoutMs} ms`);
    deadline.abort(late);
    expire(late);
  }, leftMs);
  try {
    return await Promise.race([ask(deadline.signal), expired]);
  } finally {
    clearTimeout(timer);
  }
}

type List<B> = (query: BondQuery, signal: AbortSignal) => AsyncIterable<readonly B[]>;

/** Each call goes through the gate; each page of a list is a call. */
export function behindGate(registry: EmploymentRegistry, gate: RegistryGate): EmploymentRegistry {
  const both = (signal: AbortSignal, own: AbortSignal) => AbortSignal.any([signal, own]);
  async function* paged<B>(query: BondQuery, signal: AbortSignal, list: List<B>): AsyncGenerator<readonly B[]> {
    const ending = new AbortController();
    const pages = list(query, both(ending.signal, signal))[Symbol.asyncIterator]();
    try {
      for (;;) {
        const page = await gate.call(() => pages.next());
        if (page.done === true) return;
        yield page.value;
      }
    } finally {
      ending.abort();
    }
  }
  return {
    queryMargin: (question, signal) => gate.call((own) => registry.queryMargin(question, both(signal, own))),
    register: (request, signal) => gate.call((own) => registry.register(request, both(signal, own))),
    lookUp: (request, signal) => gate.call((own) => registry.lookUp(request, both(signal, own))),
    endedBonds: (query, signal) => paged(query, signal, (...asking) => registry.endedBonds(...asking)),
    newBonds: (query, signal) => paged(query, signal, (...asking) => registry.newBonds(...asking)),
  };
}
