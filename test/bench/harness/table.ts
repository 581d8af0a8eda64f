/** The table of figures on standard output. */
import { holds, type Measured } from '../figure.ts';

function format(value: number): string {
  if (!Number.isFinite(value)) return '?';
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US');
  return value.toFixed(2);
}

function verdict(figure: Measured, isJudged: boolean): string {
  const held = holds(figure);
  if (held === null) return '';
  if (!isJudged) return 'not judged';
  return held ? 'holds' : 'DOES NOT HOLD';
}

export function table(figures: readonly Measured[], isJudged: boolean): string {
  const rows = figures.map((figure) => [
    figure.label,
    `${format(figure.value)} ${figure.unit}`,
    figure.bar === null ? '' : `${figure.bar.at === 'least' ? '≥' : '≤'} ${format(figure.bar.value)}`,
    verdict(figure, isJudged),
  ]);
  const all = [['figure', 'measured', 'bar', ''], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) =>
        column === 1 || column === 2 ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd();
  const [head = [], ...body] = all.map(line);
  return [head, '-'.repeat(Math.max(...all.map((row) => line(row).length))), ...body].join('\n');
}
