/**
 * Progress on standard error: a line that redraws itself on a terminal, else a line every few seconds. Every phase
 * has a time bound, so that a bench that hangs says where.
 */
const REDRAW_MS = 250;
const LINE_MS = 5_000;

export interface Progress {
  /** Runs `work` as one phase; throws when it takes longer than `boundS`. `reported` may say how far it is. */
  phase<T>(name: string, boundS: number, work: (report: (text: string) => void) => Promise<T>): Promise<T>;
  /** A line that stays. */
  note(text: string): void;
}

export function createProgress(): Progress {
  const isTerminal = process.stderr.isTTY;
  const startedMs = performance.now();

  const stamp = () => `${((performance.now() - startedMs) / 1_000).toFixed(0).padStart(5)} s`;
  const clear = () => (isTerminal ? process.stderr.write('\r\u001B[2K') : undefined);
  const note = (text: string) => {
    clear();
    process.stderr.write(`${stamp()}  ${text}\n`);
  };

  return {
    note,
    async phase(name, boundS, work) {
      const beganMs = performance.now();
      let reported = '';
      const show = () => {
        const seconds = ((performance.now() - beganMs) / 1_000).toFixed(0);
        const text = `${name}: ${reported === '' ? '' : `${reported}, `}${seconds} s of at most ${boundS} s`;
        if (isTerminal)
          process.stderr.write(`\r\u001B[2K${stamp()}  ${text.slice(0, (process.stderr.columns || 100) - 10)}`);
        else note(text);
      };
      const shower = setInterval(show, isTerminal ? REDRAW_MS : LINE_MS);
      const { promise: late, reject } = Promise.withResolvers<never>();
      const bound = setTimeout(() => reject(new Error(`${name} took longer than ${boundS} s`)), boundS * 1_000);
      try {
        return await Promise.race([work((text) => (reported = text)), late]);
      } finally {
        clearInterval(shower);
        clearTimeout(bound);
        clear();
      }
    },
  };
}
