/** Verdicts of jobs, kept for the monitors. */
import { codeOf } from '../../db/unavailable.ts';
import type { Logger } from '../../log-lines.ts';

/** Keeps a verdict by `keep`; null where it cannot. A standby and an auditor's login cannot; that is logged, and the command goes on. */
export async function keeping<T>(log: Logger, keep: () => Promise<T>): Promise<T | null> {
  try {
    return await keep();
  } catch (error) {
    log.warn({ code: codeOf(error) }, 'the verdict could not be kept, so the metrics still tell the one before');
    return null;
  }
}
