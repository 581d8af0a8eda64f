import { readFileSync } from 'node:fs';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { expect, test } from 'vitest';
import { describeRegistry } from '../../src/http/openapi/registry-document.ts';

const FILE = new URL('../../src/registry/openapi.json', import.meta.url);

test('the bridge’s interface in the repository is the one that the shapes make', () => {
  const kept = JSON.parse(readFileSync(FILE, 'utf8')) as unknown;
  // Where it differs: write describeRegistry('en') to the file, and format it.
  expect(kept).toEqual(JSON.parse(JSON.stringify(describeRegistry('en'))));
});

test.each(['pt', 'en'] as const)('it is valid OpenAPI in %s', async (language) => {
  const source = JSON.stringify(describeRegistry(language));
  const config = await createConfig({ extends: ['spec'] });
  expect(await lintFromString({ source, config })).toEqual([]);
});
