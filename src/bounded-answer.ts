/** The body of an answer over HTTP, up to a bound: whoever answers, a registry, a bucket, a key set or an API, is not ours. */

/** The body of `answer`. Rejects, and lets the connection go, where it has more than `most` bytes. */
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
