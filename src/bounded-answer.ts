/** The body of a foreign HTTP answer. Rejects and closes the connection beyond `most` bytes. */
export async function readBounded(answer: Response, most: number): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of answer.body ?? []) {
    length += part.length;
    if (length > most) throw new Error(`it answers more than ${Math.ceil(most / 1_024)} KiB`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}
