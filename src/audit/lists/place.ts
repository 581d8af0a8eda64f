/** A key's values as one text, and texts compare as the rows do. */
export function placeOf(key: readonly string[]): string {
  return key
    .map((value) => value.replaceAll('-', ''))
    .map((value) => (/^\d+$/.test(value) ? value.padStart(10, '0') : value))
    .join(' ');
}
