/** The witness in `listen`: an API on a real socket whose log grows, forks and lies. */
import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import vectors from '../../src/audit/verifiers/vectors.json' with { type: 'json' };
import { Witness } from '../../src/listen/witness.ts';
import { listening } from '../support/listening.ts';

const lineOf = (name: string) => vectors.headers.find((vector) => vector.name === name)?.header ?? '';
const [three, eight, forked] = ['the first one', 'the log has grown', 'one size, two roots'].map(lineOf);
const forged = lineOf('another log’s key');
const proof = vectors.headers.find(({ name }) => name === 'the log has grown')?.answers[0]?.text;

/** The note that a line stands for. */
function noteOf(line = ''): string {
  const [origin, size, root, signature] = line.split(' ');
  return `${origin}\n${size}\n${root}\n\n— ${origin} ${signature}\n`;
}

let shown: string | null = null;
const server = createServer((request, response) => {
  const { url = '' } = request;
  const body = url.includes('keys') ? vectors.keys.join('\n') : url.includes('consistencia') ? proof : shown;
  response.writeHead(body == null ? 404 : 200).end(body ?? '');
});
const port = await listening(server);

test('tells each new checkpoint once, a fork and a forgery as what they are, and keeps what it had', async () => {
  const notes: string[] = [];
  const witness = new Witness({
    api: `http://127.0.0.1:${port}`,
    note: (line) => notes.push(line),
    pause: () => Promise.resolve(),
    stopping: new AbortController().signal,
  });
  const lookAt = async (note: string | null) => {
    shown = note;
    await witness.look();
    await witness.look();
    return notes.splice(0);
  };
  expect([await lookAt(null), witness.header]).toEqual([[], null]);
  expect(await lookAt(noteOf(three))).toEqual(['checkpoint: carteiro.example.com/log at 3']);
  expect(await lookAt('<html>\n\n— a b\n')).toEqual([]);
  expect(witness.header).toBe(three);
  expect(await lookAt(noteOf(eight))).toEqual(['checkpoint: carteiro.example.com/log at 8']);
  expect(await lookAt(noteOf(three))).toEqual([
    `checkpoint: ${three} is older than ${eight}: the API's log stands still`,
  ]);
  expect(await lookAt(noteOf(forked))).toEqual([
    `checkpoint: the log was made anew: ${forked} excludes ${eight}; keep both, and tell its owner`,
  ]);
  expect(await lookAt(noteOf(forged))).toEqual([`checkpoint: none of the API's keys signed ${forged}`]);
  expect(witness.header).toBe(forged);
});
