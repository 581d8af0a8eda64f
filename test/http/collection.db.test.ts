/** The collection that partners import: made by its command, complete, and each request sent as it stands. */
import path from 'node:path';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SCOPES } from '../../src/contract/statuses.ts';
import type { ApiDescription } from '../support/description.ts';
import { type PartnerWorld, startPartnerWorld } from '../support/partner-world.ts';
import { run } from '../support/snippets.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

interface Item {
  readonly name: string;
  readonly event?: readonly { readonly script: { readonly exec: readonly string[] } }[];
  readonly request: {
    readonly method: string;
    readonly header: readonly { readonly key: string; readonly value: string; readonly disabled?: boolean }[];
    readonly url: { readonly raw: string };
    readonly body?: { readonly raw: string };
  };
}

interface Folder {
  readonly name: string;
  readonly auth: { readonly bearer: readonly { readonly value: string }[] };
  readonly item: readonly Item[];
}

interface Collection {
  readonly variable: readonly { readonly key: string; readonly value: string }[];
  readonly item: readonly Folder[];
}

const print = (...args: string[]) => run([process.execPath, 'src/http/openapi/print-collection.ts', ...args], ROOT);

let world: PartnerWorld;
let collection: Collection;
beforeAll(async () => {
  world = await startPartnerWorld({ testWaitMs: 50 });
  collection = JSON.parse(await print('--url', 'https://api.example/')) as Collection;
});
afterAll(() => world.close());

test('it has every operation of the description, once, in the folder of its tag', async () => {
  const { paths } = (await (await world.api.app.request('/openapi.json')).json()) as ApiDescription;
  const described = Object.entries(paths).flatMap(([url, methods]) =>
    Object.keys(methods).map((method) => `${url.split('/')[2]}: ${method.toUpperCase()} ${url}`),
  );
  const collected = collection.item.flatMap(({ name, item }) => item.map((request) => `${name}: ${request.name}`));
  expect(collected.toSorted()).toEqual(described.toSorted());
  expect(collection.variable).toContainEqual({ key: 'baseUrl', value: 'https://api.example', type: 'string' });
});

test('without the sandbox it has none of its requests', async () => {
  const production = JSON.parse(await print('--production')) as Collection;
  expect(production.item.map(({ name }) => name)).toEqual(
    collection.item.map(({ name }) => name).filter((name) => name !== 'sandbox'),
  );
});

test.for([['--url', 'api.example'], ['--nothing'], ['more']])('%s is refused with the usage', async (args) => {
  await expect(print(...args)).rejects.toThrow(
    /ended with 2: .*(api\.example|--nothing|more).*\nnpm run -s collection/s,
  );
});

test('each request, sent as it stands, is refused by the state of its subject alone', async () => {
  const partner = await world.partner();
  await partner.accepted(`/v1/sandbox/emprestimos/${await partner.newLoan()}/assinatura`);
  const [delivery] = await world.api.database.sql<[{ id: string; eventId: string }]>`
    select id, event_id as "eventId" from deliveries where partner_id = ${partner.id}`;
  const partnerScopes = SCOPES.filter((scope) => scope !== 'auditoria:read' && scope !== 'nucleo');
  const variables = new Map(collection.variable.map(({ key, value }) => [key, value]));
  variables.set('baseUrl', 'http://carteiro.test').set('parceiro_id', partner.id).set('entrega_id', delivery.id);
  variables.set('evento_id', delivery.eventId);
  variables.set('token', await world.api.token(partner.id, partnerScopes));
  variables.set('token_auditor', await world.api.token(undefined, ['auditoria:read']));
  variables.set('token_nucleo', await world.api.token(undefined, ['nucleo']));
  const filled = (text: string) =>
    text.replaceAll(/\{\{([$\w]+)\}\}/g, (_, name: string) =>
      name === '$guid' ? crypto.randomUUID() : (variables.get(name) ?? ''),
    );

  const send = async ({ auth }: Folder, { event = [], request }: Item) => {
    const enabled = request.header.filter(({ disabled }) => disabled !== true);
    const response = await world.api.app.request(filled(request.url.raw), {
      method: request.method,
      headers: {
        Authorization: `Bearer ${filled(auth.bearer[0]?.value ?? '')}`,
        ...Object.fromEntries(enabled.map(({ key, value }) => [key, filled(value)])),
      },
      ...(request.body && { body: filled(request.body.raw) }),
    });
    const text = await response.text();
    const pm = {
      response: { code: response.status, json: () => JSON.parse(text) as unknown },
      collectionVariables: { set: (name: string, value: string) => variables.set(name, value) },
    };
    for (const { script } of event) runInNewContext(script.exec.join('\n'), { pm });
    return { status: response.status, text };
  };

  const refused: string[] = [];
  for (const folder of collection.item) {
    for (const item of folder.item) {
      // It asks for the cut that an export's header names.
      if (item.name === 'GET /v1/auditoria/tentativas/manifesto') continue;
      const { status, text } = await send(folder, item);
      const isOfState = status === 409 || (status === 404 && item.name === 'GET /v1/emprestimos/{id}/averbacao');
      if (status >= 300 && !isOfState) refused.push(`${item.name}: ${status} ${text}`);
    }
  }
  expect(refused).toEqual([]);
  expect(variables.get('webhook_id')).toMatch(/^[0-9a-f-]{36}$/);
});
