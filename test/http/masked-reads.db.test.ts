/** `webhooks:mascarado`: what `webhooks:read` reads, without CPFs, names and query strings. */
import { beforeAll, expect, test } from 'vitest';
import { sealAll } from '../../src/audit/seals/sealer.ts';
import { startPainelWorld } from '../support/painel.ts';
import { status } from '../support/receiver.ts';
import { untilSettled } from '../support/settled.ts';

const CPF = '52998224725';
const NAME = 'Maria Quitéria de Jesus';
const TOLD = [CPF, '529.982.247-25', NAME, 'Quit\\u00e9ria', 's3nha'];
const world = await startPainelWorld();
const partner = await world.subscriber();
const webhook = await partner.register();
const ids: Record<string, string> = {};
let masked: string;
let whole: string;

beforeAll(async () => {
  await partner.send('PATCH', `/v1/webhooks/${webhook.id}`, { url: `${webhook.url}?token=s3nha` });
  world.receiver.answerWith(status(422, `{"erro":"CPF 529.982.247-25","nome":"${NAME}","cpf":"${CPF}"}`));
  const sandbox = await world.api.token(partner.id, ['sandbox']);
  const body = { cpf_trabalhador: CPF, origem: 'web' };
  await world.api.send('POST', '/v1/sandbox/autorizacoes', { token: sandbox, body });
  await world.deliver();
  await untilSettled(world.api.database.sql);
  await sealAll(world.api.database.pool);
  const [row] = await world.api.database.sql<[{ delivery: string; event: string }]>`
    select id as delivery, event_id as event from deliveries limit 1`;
  Object.assign(ids, { webhooks: webhook.id, entregas: row.delivery, eventos: row.event });
  masked = await world.api.token(partner.id, ['webhooks:mascarado']);
  whole = await world.api.token(partner.id, ['webhooks:read', 'webhooks:mascarado']);
});

/** Every read of `webhooks:read`, with the ids of what there is. */
async function reads(): Promise<string[]> {
  const { body } = await world.api.send<{ paths: Record<string, { get?: { security?: Record<string, string[]>[] } }> }>(
    'GET',
    '/openapi.json',
  );
  const found = Object.entries(body.paths).filter(([, { get }]) =>
    JSON.stringify(get?.security ?? '').includes('webhooks:read'),
  );
  return found.map(([path]) => path.replace(/\{\w+\}/, ids[path.split('/')[2] ?? ''] ?? ''));
}

test('every read is allowed, none tells of a worker, and the rest is what it was', async () => {
  const paths = await reads();
  expect(paths.length).toBeGreaterThan(12);
  const shown: string[] = [];
  for (const path of paths) {
    const [seen, real] = [
      await world.api.send('GET', path, { token: masked }),
      await world.api.send('GET', path, { token: whole }),
    ];
    expect([path, seen.status]).toEqual([path, real.status]);
    expect([path, TOLD.filter((one) => seen.text.includes(one))]).toEqual([path, []]);
    if (TOLD.some((one) => real.text.includes(one))) shown.push(path);
    expect([path, Object.keys(seen.body as object)]).toEqual([path, Object.keys(real.body as object)]);
  }
  // Otherwise this would show nothing.
  expect(shown.length).toBeGreaterThanOrEqual(4);
});

test('evidence is masked row by row: what it withholds is missing, and what it shows still fits', async () => {
  type Seen = { selos: { entrada: string }[]; sal: string | null };
  await partner.emit();
  await world.deliver();
  await untilSettled(world.api.database.sql);
  // Not the log's first seal, whose few digits are no CPF.
  await sealAll(world.api.database.pool);
  const [{ id }] = await world.api.database.sql<[{ id: string }]>`
    select id from deliveries order by event_id desc limit 1`;
  const proofFor = async (token: string) =>
    (await world.api.send<Seen>('GET', `/v1/entregas/${id}/prova`, { token })).body;
  const [seen, real] = [await proofFor(masked), await proofFor(whole)];
  expect(seen).toMatchObject({ sal: null, selos: real.selos });
  expect(seen.selos[0]?.entrada.replaceAll(/\D/g, '').length).toBeGreaterThan(11);
});

test('names of header fields stay', async () => {
  type Seen = { tentativas: Record<'cabecalhos' | 'resposta_cabecalhos', { nome: string }[]>[] };
  const namesFor = async (token: string) => {
    const { body } = await world.api.send<Seen>('GET', `/v1/entregas/${ids['entregas']}`, { token });
    return body.tentativas.map((one) => [...one.cabecalhos, ...one.resposta_cabecalhos].map(({ nome }) => nome));
  };
  const names = await namesFor(masked);
  expect(names).toEqual(await namesFor(whole));
  expect(names[0]).toContain('X-Webhook-Event');
});

test('pages go on by their cursors, and ids stay', async () => {
  type Page = { itens: { id: string }[]; proximo_cursor: string | null };
  const pageOf = (token: string, cursor: string) =>
    world.api.send<Page>('GET', `/v1/entregas?limite=1${cursor}`, { token }).then(({ body }) => body);
  await partner.emit();
  const first = await pageOf(masked, '');
  expect(first.itens[0]?.id).toBe((await pageOf(whole, '')).itens[0]?.id);
  expect((await pageOf(masked, `&cursor=${first.proximo_cursor}`)).itens).toHaveLength(1);
});

test('it writes nothing, and reads nothing else', async () => {
  const refused = async (method: string, path: string) =>
    (await world.api.send(method, path, { token: masked, ...(method !== 'GET' && { body: {} }) })).status;
  expect(await refused('POST', `/v1/entregas/${ids['entregas']}/reenvio`)).toBe(403);
  expect(await refused('PATCH', `/v1/webhooks/${webhook.id}`)).toBe(403);
  expect(await refused('GET', '/v1/emprestimos')).toBe(403);
});

test('the page shows it masked, too', async () => {
  const visitor = await world.signedIn(partner.id, ['webhooks:mascarado']);
  for (const path of [`entregas/${ids['entregas']}`, `eventos/${ids['eventos']}`, `webhooks/${webhook.id}`, 'visao']) {
    const { status: code, text } = await visitor.get(`/painel/${path}`);
    expect([path, code, TOLD.filter((one) => text.includes(one))]).toEqual([path, 200, []]);
  }
});
