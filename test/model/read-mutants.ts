/** Mutants as they are written down: one a paragraph, its changes as lines that go (-) and lines that come (+). */
import type { CheckName } from './checks.ts';

interface Change {
  readonly find: string;
  readonly put: string;
}

export interface Mutant {
  readonly name: string;
  /** In src/delivery, or in drizzle/functions. */
  readonly file: string;
  readonly changes: readonly Change[];
  readonly check: CheckName;
  /** What its check says of it. */
  readonly finds: RegExp;
}

/** Of a raw template, in which \` and \${ stand for themselves. */
export function readMutants(raw: string): readonly Mutant[] {
  return raw
    .replaceAll(/\\([`$])/g, '$1')
    .trim()
    .split('\n\n')
    .map(readMutant);
}

function readMutant(text: string): Mutant {
  const [, file = '', name = '', body = '', check = '', finds = ''] =
    /^([^:]+): (.+)\n([^]+)\n([^:\n]+): (.+)$/.exec(text) ?? [];
  const changes = body.split(/(?<=\n)(?<=\n\+.*\n)(?=-)/).map((change): Change => {
    const of = (sign: string) =>
      change
        .split('\n')
        .filter((line) => line.startsWith(sign))
        .map((line) => line.slice(2))
        .join('\n');
    return { find: of('-'), put: of('+') };
  });
  return { name, file, changes, check: check as CheckName, finds: new RegExp(finds) };
}
