/** Rows as lines of text under a heading: these columns of them, or all that the first has. Empty without a row. */
export function table<T extends object>(rows: readonly T[], columns?: readonly (keyof T & string)[]): string {
  const [first] = rows;
  if (first === undefined) return '';
  const names = columns ?? (Object.keys(first) as (keyof T & string)[]);
  const lines = [names, ...rows.map((row) => names.map((name) => cellOf(row[name])))];
  const widths = names.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) => `   ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd())
    .join('\n');
}

function cellOf(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
