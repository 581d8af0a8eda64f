/** The finding about one condition: a start refuses those that `stops`; the doctor shows all. */

export interface Finding {
  readonly about: string;
  /** `warning`: works, and will hurt. `fault`: something does not work, or is not kept. */
  readonly verdict: 'ok' | 'warning' | 'fault';
  readonly found: string;
  /** What to do; null when all is well. */
  readonly advice: string | null;
  /** A start is refused. */
  readonly stops?: true;
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

export function faultUnless(isWell: boolean, about: string, found: string, advice: string): Finding {
  return isWell ? ok(about, found) : fault(about, found, advice);
}

export function warningUnless(isWell: boolean, about: string, found: string, advice: string): Finding {
  return isWell ? ok(about, found) : warning(about, found, advice);
}

/** A fault that refuses a start. */
export function stop(about: string, found: string, advice: string): Finding {
  return { about, verdict: 'fault', found, advice, stops: true };
}

export function refuse(findings: readonly Finding[]): void {
  const found = findings.find(({ stops }) => stops);
  if (found !== undefined) throw new Error(`${found.found}: ${found.advice}`);
}
