/** The picture: throughput and latency as two sets of horizontal bars. */
import type { Drawn } from '../figure.ts';
import { format } from './table.ts';

const WIDTH = 760;
const LABEL_WIDTH = 250;
const BAR_WIDTH = 400;
const ROW = 26;
const TITLES = { throughput: ['Drain of a backlog', 'deliveries/s'], latency: ['Commit → arrival', 'ms'] } as const;

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function bars(drawn: readonly Drawn[], chart: Drawn['chart'], top: number): string {
  const rows = drawn.filter((bar) => bar.chart === chart && Number.isFinite(bar.value));
  if (rows.length === 0) return '';
  const [title, unit] = TITLES[chart];
  const most = Math.max(...rows.map((bar) => bar.value));
  const lines = rows.map(({ label, value }, index) => {
    const y = top + 34 + index * ROW;
    const width = Math.max(1, (value / most) * BAR_WIDTH).toFixed(1);
    const colour = label.startsWith('Carteiro') ? '#0b6e4f' : '#9aa5b1';
    return (
      `<text x="${LABEL_WIDTH - 10}" y="${y + 14}" text-anchor="end">${escape(label)}</text>` +
      `<rect x="${LABEL_WIDTH}" y="${y}" width="${width}" height="18" fill="${colour}"/>` +
      `<text x="${LABEL_WIDTH + Number(width) + 6}" y="${y + 14}">${format(value)}</text>`
    );
  });
  return `<text x="20" y="${top + 18}" font-weight="bold">${title} (${unit})</text>${lines.join('')}`;
}

export function svg(drawn: readonly Drawn[]): string {
  const count = (chart: Drawn['chart']) => drawn.filter((bar) => bar.chart === chart).length;
  const second = count('throughput') === 0 ? 10 : 60 + count('throughput') * ROW;
  const height = second + 50 + count('latency') * ROW;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" font-family="sans-serif" font-size="13">` +
    `<rect width="100%" height="100%" fill="#fff"/>${bars(drawn, 'throughput', 10)}${bars(drawn, 'latency', second)}</svg>\n`
  );
}
