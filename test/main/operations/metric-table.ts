/** The table of all metrics, as the operators' page has it. */
import { readFileSync } from 'node:fs';
import path from 'node:path';

const PAGE = path.resolve(import.meta.dirname, '../../../src/main/operations/README.md');
const LINE = /^\| `((?:carteiro|nodejs|process)_\w+)` *\|(.*?)\|/gm;
/** A label, then its values or what they are. */
const LABEL = /^`(\w+)`(?: = ([\w, -]+)| \([^()]+\))?$/;

export interface MetricLine {
  readonly name: string;
  /** Each label with the values that are listed for it; null where they are only described. */
  readonly labels: ReadonlyMap<string, ReadonlySet<string> | null>;
}

/** The lines in their order. Throws for labels that are not written as the others are. */
export function metricsOfThePage(): MetricLine[] {
  return [...readFileSync(PAGE, 'utf8').matchAll(LINE)].map(([, name = '', reported = '']) => {
    const parts = reported.split(';').map((part) => part.trim());
    return { name, labels: new Map(parts.filter((part) => part !== '').map((part) => labelOf(name, part))) };
  });
}

function labelOf(name: string, part: string): [string, ReadonlySet<string> | null] {
  const [, label, values] = LABEL.exec(part) ?? [];
  if (label === undefined) throw new Error(`${name}: "${part}" is not a label`);
  return [label, values === undefined ? null : new Set(values.split(', '))];
}
