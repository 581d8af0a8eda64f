/** What was found of one thing that must hold: a start refuses what stops it, and the doctor shows all. */

export interface Finding {
  readonly about: string;
  /** `warning`: it works, and will hurt. `fault`: something does not work, or is not kept. */
  readonly verdict: 'ok' | 'warning' | 'fault';
  /** What was found, with its figure. */
  readonly found: string;
  /** What to do; null when all is well. */
  readonly advice: string | null;
  /** A start is refused for it. */
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

/** `found` is well, or a fault. */
export function faultUnless(isWell: boolean, about: string, found: string, advice: string): Finding {
  return isWell ? ok(about, found) : fault(about, found, advice);
}

/** `found` is well, or a warning. */
export function warningUnless(isWell: boolean, about: string, found: string, advice: string): Finding {
  return isWell ? ok(about, found) : warning(about, found, advice);
}

/** A fault that no start goes on with. */
export function stop(about: string, found: string, advice: string): Finding {
  return { about, verdict: 'fault', found, advice, stops: true };
}

/** Throws the first finding that stops a start. */
export function refuse(findings: readonly Finding[]): void {
  const found = findings.find(({ stops }) => stops);
  if (found !== undefined) throw new Error(`${found.found}: ${found.advice}`);
}
