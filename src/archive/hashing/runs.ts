/**
 * Parquet's hybrid of runs and packed bits. Alternative: hyparquet's, which does not tell when a run goes beyond the page: its readers of
 * rows then have more rows in the page than it declares, and those of later pages move.
 */

/** Longer than any index into a group of rows. */
const MOST_BITS = 24;

/** Fills `output`. Throws RangeError if the bytes have other than as many values; the last eight packed ones may go beyond. */
export function readRuns(bytes: Buffer, bits: number, output: Uint8Array | Int32Array): void {
  if (bits > MOST_BITS) throw new RangeError(`values have ${bits} bits`);
  const width = (bits + 7) >> 3;
  for (let [at, seen] = [0, 0]; seen < output.length;) {
    let [head, shift, byte] = [0, 1, 128];
    for (; byte > 127; at += 1, shift *= 128) {
      byte = bytes.readUInt8(at);
      head += (byte % 128) * shift;
    }
    const count = Math.floor(head / 2);
    if (head % 2 === 0) {
      if (count > output.length - seen) throw new RangeError('a run goes beyond its page');
      output.fill(width === 0 ? 0 : bytes.readUIntLE(at, width), seen, seen + count);
      [at, seen] = [at + width, seen + count];
    } else {
      const end = at + count * bits;
      if (end > bytes.length) throw new RangeError('packed values go beyond their page');
      seen = readPacked(bytes, at, bits, output, seen, Math.min(output.length, seen + 8 * count));
      at = end;
    }
  }
}

function readPacked(
  bytes: Buffer,
  from: number,
  bits: number,
  output: Uint8Array | Int32Array,
  seen: number,
  end: number,
): number {
  const mask = (1 << bits) - 1;
  let [at, data, left] = [from, 0, 0];
  for (let index = seen; index < end; index += 1) {
    for (; left < bits; left += 8, at += 1) data |= (bytes[at] as number) << left;
    output[index] = data & mask;
    data >>>= bits;
    left -= bits;
  }
  return end;
}
