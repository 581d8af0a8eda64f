/** One line on standard error that is written over, for a person at a terminal; anywhere else nothing is written. */

const EVERY_MS = 100;

export interface Progress {
  show(text: string): void;
  end(): void;
}

export function openProgress(): Progress {
  const stream = process.stderr;
  if (!stream.isTTY) return { show: () => undefined, end: () => undefined };
  let shownAt = -Infinity;
  const write = (text: string) => stream.write(`\r\u001B[K${text}`);
  return {
    show(text) {
      const now = performance.now();
      if (now - shownAt < EVERY_MS) return;
      shownAt = now;
      write(text);
    },
    end: () => void write(''),
  };
}
