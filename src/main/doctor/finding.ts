/** What the doctor says of one thing that it looked at. */
import { codeOf } from '../../db/unavailable.ts';

export interface Finding {
  readonly about: string;
  /** `warning`: it works, and will hurt. `fault`: something does not work, or is not kept. */
  readonly verdict: 'ok' | 'warning' | 'fault';
  /** What was found, with its figure. */
  readonly found: string;
  /** What to do; null when all is well. */
  readonly advice: string | null;
}

export function ok(about: string, found: string): Finding {
  return { about, verdict: 'ok', found, advice: null };
}

export function warning(about: string, found: string, advice: string): Finding {
  return { about, verdict: 'warning', found, advice };
}

export function fault(about: string, found: string, advice: string): Finding {
  return { about, verdict: 'fault', found, advice };
}

const PERMISSION_DENIED = '42501';

/** What `look` finds. A look that fails is a finding, too: the others go on. Throws when the database is out of reach. */
export async function findingsOf(
  about: string,
  look: () => Promise<readonly Finding[]>,
  isLost: (error: unknown) => boolean,
): Promise<readonly Finding[]> {
  try {
    return await look();
  } catch (error) {
    if (isLost(error)) throw error;
    const { message } = error as Error;
    return codeOf(error) === PERMISSION_DENIED
      ? [
          warning(
            about,
            `this login may not look: ${message}`,
            'run doctor with a login that may, as a member of the owner',
          ),
        ]
      : [fault(about, message, 'mend what the sentence says, then run doctor again')];
  }
}
