/** `verifyCheckpoint` of each language, on the published vectors, with an API on a real socket. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import vectors from '../../src/audit/verifiers/vectors.json' with { type: 'json' };
import { type CheckpointCase, VERIFIERS } from '../support/verifiers.ts';

const { headers, keys } = vectors;
/** What was asked, of each case. */
let asked: string[];

const api = createServer((request, response) => {
  const [, index = '', question = ''] = /^\/(\d+)(\/.*)$/.exec(request.url ?? '') ?? [];
  asked.push(`${index} ${question}`);
  const answer = headers[Number(index)]?.answer ?? null;
  response.writeHead(answer === null ? 503 : 200).end(answer ?? 'away');
});
await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
afterAll(() => new Promise((resolve) => api.close(resolve)));

test.for(VERIFIERS)('in $name', async ({ name, needs, isHere, answer }, context) => {
  if (!(await isHere())) context.skip(`the verifier in ${name} was not run: there is no ${needs} on this machine`);
  asked = [];
  const { port } = api.address() as AddressInfo;
  const cases = headers.map(({ header, kept }, index): CheckpointCase => {
    return { function: 'verifyCheckpoint', keys, header, kept, api: `http://127.0.0.1:${port}/${index}` };
  });
  const told = await answer(cases);
  expect(told.map((found, index) => [headers[index]?.name, found])).toEqual(
    headers.map((vector) => [vector.name, [vector.verdict, vector.keep]]),
  );
  // Nothing is asked where nothing can be learnt.
  const size = (line: string) => line.split(' ')[1] ?? '';
  expect(asked.toSorted()).toEqual(
    headers
      .flatMap(({ header, kept, answer: given, verdict }, index) => {
        const isAsked = given !== null || (verdict === 'unknown' && header !== '');
        const [old, grown] = [size(header), size(kept)].toSorted((one, other) => Number(one) - Number(other));
        return isAsked ? [`${index} /v1/evidencia/consistencia?de=${old}&ate=${grown}`] : [];
      })
      .toSorted(),
  );
});
