/**
 * Calls to the registry, each with a deadline, a bound on the calls at once, and a breaker. A slot is the permission for one
 * call.
 *
 * Invariant: `timeoutMs` after a caller came, it has an answer or a throw, whatever the registry does; the wait for a slot
 * counts. A waiting caller holds nothing but memory. The slots bound the calls that pile up at a hanging registry.
 * The wait takes at most half of the deadline. The call has the other half, because the registry may charge for a call that
 * we give up on. At the deadline the slot is free again, even if the adapter ignores its signal: the port forbids that, and a
 * slot lost for ever would be worse. Nothing here outlives the process, so a crash leaves nothing.
 * After FAILURES calls in a row that threw, the breaker opens: for `openMs` every call throws at once. Then the probe asks
 * whether the registry is in service; it closes the breaker, or leaves it open for as long again.
 * Alternative: no bound. Then everybody asks a slow registry at once, which makes it slower.
 */
import type { BondQuery } from './bonds-port.ts';
import { type EmploymentRegistry, NotAsked, RegistryFailure } from './port.ts';

export const BREAKER_FAILURES = 5;
const OPEN_MS = 30_000;

type CallOutcome = 'answered' | 'failed' | 'not_asked';

export interface GateOptions {
  /** Calls at once. */
  readonly slots: number;
  readonly timeoutMs: number;
  /** Resolves when the registry is in service. */
  readonly probe?: (signal: AbortSignal) => Promise<unknown>;
  readonly openMs?: number;
  readonly onCall?: (outcome: CallOutcome) => void;
  readonly onBreaker?: (isOpen: boolean) => void;
}

export class RegistryGate {
  readonly #options: GateOptions;
  readonly #waiting = new Set<() => void>();
  #free: number;
  #failures = 0;
  #probing: NodeJS.Timeout | null = null;

  constructor(options: GateOptions) {
    this.#options = options;
    this.#free = options.slots;
  }

  get isOpen(): boolean {
    return this.#probing !== null;
  }

  /** Makes one call. Throws {@link NotAsked}, or what the call threw. */
  async call<T>(ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { timeoutMs, onCall } = this.#options;
    const cameAt = performance.now();
    if (this.isOpen || !(await this.#enter(timeoutMs / 2)) || this.#isOpenNow()) {
      onCall?.('not_asked');
      throw new NotAsked(this.isOpen ? 'open' : 'busy');
    }
    try {
      const answer = await within(timeoutMs - (performance.now() - cameAt), timeoutMs, ask);
      this.#failures = 0;
      onCall?.('answered');
      return answer;
    } catch (error) {
      this.#failures += 1;
      onCall?.('failed');
      if (this.#failures >= BREAKER_FAILURES && this.#options.probe !== undefined) this.#open();
      throw error;
    } finally {
      this.#leave();
    }
  }

  /** Stops probing. */
  close(): void {
    if (this.#probing !== null) clearTimeout(this.#probing);
  }

  /** Of a caller that has waited for its slot, which goes to the next one then. */
  #isOpenNow(): boolean {
    if (this.isOpen) this.#leave();
    return this.isOpen;
  }

  #open(): void {
    if (this.isOpen) return;
    this.#options.onBreaker?.(true);
    this.#probeLater();
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

  /** True with a slot; false when none was free in `waitMs`. */
  async #enter(waitMs: number): Promise<boolean> {
    if (this.#free > 0) {
      this.#free -= 1;
      return true;
    }
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const timer = setTimeout(end, waitMs);
    this.#waiting.add(end);
    await ended;
    clearTimeout(timer);
    // #leave removes the caller that it admits from the set, so a caller still in it has waited too long.
    return !this.#waiting.delete(end);
  }

  /** Hands the slot to the caller that has waited longest, if any. */
  #leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free += 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}

/** What `ask` comes to, unless `leftMs` pass first: then its signal aborts, and this throws. */
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

/** The registry with each of its calls behind the gate; each page of a list is a call. */
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
