/** Writes /openapi.json, and the types that openapi-typescript makes of it for the partner's program: `npm run check` and its test run it. */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import openapiTS, { astToString, COMMENT_HEADER, type OpenAPI3 } from 'openapi-typescript';
import { createBareApp } from '../support/bare-app.ts';

const app = createBareApp({ allowInsecure: true });
// What is wrong with an operation, rather than an answer 500 without its reason.
app.onError((error) => {
  throw error;
});
const answer = await app.request('/openapi.json');
const text = await answer.text();
const types = astToString(await openapiTS(JSON.parse(text) as OpenAPI3));
const folder = path.join(import.meta.dirname, 'generated');
await mkdir(folder, { recursive: true });
await writeFile(path.join(folder, 'openapi.ts'), COMMENT_HEADER + types);
await writeFile(path.join(folder, 'openapi.json'), text);
