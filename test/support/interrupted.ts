const EXIT_INTERRUPTED = 130;

/** From now on an interrupt runs `clean`, then leaves with 130. Returns what takes that back. */
export function cleanWhenInterrupted(clean: () => Promise<unknown>): () => void {
  const leave = (): void => {
    // What is under way fails now, and nobody wants to know.
    process.on('uncaughtException', () => undefined);
    void clean().finally(() => process.exit(EXIT_INTERRUPTED));
  };
  process.once('SIGINT', leave);
  process.once('SIGTERM', leave);
  return () => {
    process.off('SIGINT', leave);
    process.off('SIGTERM', leave);
  };
}
