/** The table of figures on standard output. */
import { table } from '../../../src/main/table.ts';
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

export function tableOf(figures: readonly Measured[], isJudged: boolean): string {
  return table(
    figures.map((figure) => ({
      figure: figure.label,
      measured: `${format(figure.value)} ${figure.unit}`,
      bar: figure.bar === null ? '' : `${figure.bar.at === 'least' ? '≥' : '≤'} ${format(figure.bar.value)}`,
      verdict: verdict(figure, isJudged),
    })),
  );
}
