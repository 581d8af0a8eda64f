/** The documentation at /docs: everything that there is, in one language at a time, for who has no token. */
import { expect, test } from 'vitest';
import { CHECK_WORDS } from '../../src/contract/conformance/words.ts';
import { EVENTS, SUBSCRIBABLE_NAMES } from '../../src/contract/events.ts';
import { dataFieldsOf } from '../../src/painel/events/parts.ts';
import { verify, verifyBody } from '../../src/http/receivers/carteiro.ts';
import { deliveryExample, EXAMPLE_SECRET } from '../../src/painel/docs/events.ts';
import { durationText } from '../../src/contract/schedule.ts';
import { DOCS } from '../../src/painel/language/choose.ts';
import { SIGNER } from '../support/checkpoint.ts';
import { startPainelWorld, unescaped, type Visitor } from '../support/painel.ts';

const PAGES = [
  '/docs',
  '/docs/eventos',
  '/docs/verificacao',
  '/docs/calendario',
  '/docs/regras',
  '/docs/mudancas',
  '/docs/api',
  '/docs/registry',
];
const world = await startPainelWorld();

async function inEnglish(): Promise<Visitor> {
  const visitor = world.visitor();
  const { headers } = await visitor.post('/painel/preferencias', { idioma: 'en', volta: '/docs/api' });
  expect(headers.get('location')).toBe('/docs/api');
  return visitor;
}

/** What a reader sees: no markup, no code, no name of the wire. */
function wordsOf(page: string): string {
  const [, main = ''] = /<main[^>]*>([^]*)<\/main>/.exec(page) ?? [];
  const shown = main.replaceAll(/<(pre|code|td|button)[^>]*>[^]*?<\/\1>/g, ' ').replaceAll(/<[^>]+>/g, ' ');
  return shown.replaceAll(/&#?\w+;|São Paulo/g, ' ');
}

test('the schemas of /docs/eventos allow the keys that a later version adds', async () => {
  const { text } = await world.visitor().get('/docs/eventos');
  expect(text).toMatch(/&quot;properties&quot;|"properties"/);
  expect(text).not.toContain('additionalProperties');
});

test.each(PAGES)('%s needs no token, and runs and loads nothing of another host', async (path) => {
  const { status, headers, text } = await world.visitor().get(path);
  expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=UTF-8']);
  const policy = headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/https?:|\*|unsafe/);
  expect(text).toContain('<html lang="pt-BR"');
  expect(text).not.toMatch(/<(script|style)>|style="|(src|action)="https?:/);
  expect(text).not.toMatch(/<(input|textarea)(?![^>]*type="hidden")/);
});

test('each language is alone on its page', async () => {
  const visitor = await inEnglish();
  for (const path of PAGES) {
    const [portuguese, english] = [(await world.visitor().get(path)).text, (await visitor.get(path)).text];
    expect(english).toContain('<html lang="en"');
    expect([path, /.{0,40}[çãõáéíóúâêô].{0,40}/i.exec(wordsOf(english))?.[0]]).toEqual([path, undefined]);
    expect([path, /.{0,40} (the|which|with|of) .{0,40}/.exec(wordsOf(portuguese))?.[0]]).toEqual([path, undefined]);
  }
});

/** Every `description` and `summary` below `value`. */
function sentencesOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    (key === 'description' || key === 'summary') && typeof inner === 'string' ? [inner] : sentencesOf(inner),
  );
}

test('each receiver, verifier and file of vectors is there to download, and nothing else', async () => {
  const visitor = world.visitor();
  const { text } = await visitor.get('/docs/verificacao');
  const links = [...text.matchAll(/href="(\/docs\/receptores\/[^"]+)"/g)].map(([, link = '']) => link);
  expect(new Set(links).size).toBe(25);
  for (const link of links) expect([link, (await visitor.get(link)).status]).toEqual([link, 200]);
  expect((await visitor.get('/docs/receptores/carteiro.php')).text).toContain('function verify(');
  for (const other of ['..%2f..%2fREADME.md', 'nada.ts'])
    expect((await visitor.get(`/docs/receptores/${other}`)).status).toBe(404);
});

test('the changes are told by version, in both languages and in the Markdown page', async () => {
  const visitor = await inEnglish();
  for (const page of [await visitor.get('/docs/mudancas'), await visitor.get('/docs/integracao.md')]) {
    const versions = page.text.split(/Version (?=0\.\d)/).slice(1);
    const of = (version: string) => versions.filter((text) => text.startsWith(version)).join('');
    expect(of('0.4')).toContain('POST /v1/webhooks/{id}/homologacao');
    expect(of('0.4')).toContain('webhook.erro');
    const fields = ['SaudeDoWebhook.em_erro', 'GET /v1/emprestimos?numero', 'AverbacaoSolicitada.averbacao_id'];
    for (const field of [...fields, 'POST /v1/nucleo/repasses total_parcelas']) expect(of('0.4')).toContain(field);
    expect(of('0.2')).toContain('POST /v1/webhooks/{id}/segredo vale_em');
    expect(of('0.3')).toContain('POST /v1/nucleo/repasses');
    expect(of('0.2')).toContain('webhook.suspenso');
    expect(of('0.2')).not.toContain('homologacao');
  }
});

test('the description has two languages that say the same', async () => {
  const pt = sentencesOf((await world.api.send<object>('GET', '/openapi.json?para=tudo')).body);
  const en = sentencesOf((await world.api.send<object>('GET', '/openapi.en.json?para=tudo')).body);
  expect(pt.length).toBeGreaterThan(400);
  expect(en.length).toBe(pt.length);
  expect(en.filter((text) => pt.includes(text))).toEqual([]);
  expect(en.filter((text) => /[çãõáéíóúâêô]/i.test(text.replaceAll('São Paulo', '')))).toEqual([]);
});

test('every event is told', async () => {
  const { text } = await world.visitor().get('/docs/eventos');
  for (const name of SUBSCRIBABLE_NAMES) expect(text).toContain(`id="${name}"`);
  expect(text).toContain('repasse.pago');
  expect(text).not.toContain('id="repasse.pago"');
});

test('each event is shown as it arrives, and the published verifier accepts it', () => {
  for (const name of SUBSCRIBABLE_NAMES) {
    const [head = '', body = ''] = deliveryExample(name).split('\n\n');
    const lines = head.split('\n').slice(1);
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
    );
    const at = Number(headers['webhook-timestamp']);
    expect([name, verify(Buffer.from(body), headers, [EXAMPLE_SECRET], at)]).toEqual([name, true]);
    expect([name, verifyBody(Buffer.from(body), headers, [EXAMPLE_SECRET])]).toEqual([name, true]);
    expect(headers['x-webhook-event']).toBe(name);
    expect('x-webhook-loan-version' in headers).toBe(body.includes('"emprestimo_id"'));
  }
});

test('the schedule is the pollers’ own', async () => {
  const { text } = await world.visitor().get('/docs/calendario');
  const cells = [...text.matchAll(/<td[^>]*>\s*<div>(\d[^<]*(?:h|min))<\/div>/g)].map(([, cell]) => cell);
  expect(cells).toEqual([
    '1 min',
    '1 min',
    '5 min',
    '6 min',
    '15 min',
    '21 min',
    '1 h',
    '1 h 21 min',
    '6 h',
    '7 h 21 min',
  ]);
  expect(text).toContain('em até 30 s');
  expect([30, 60, 3_600, 4_860].map(durationText)).toEqual(['30 s', '1 min', '1 h', '1 h 21 min']);
});

test('the languages say the same things', () => {
  const shapeOf = (value: unknown): unknown => {
    if (typeof value === 'string')
      return [...value.matchAll(/`[^`]+`/g)]
        .map(([code]) => code)
        .toSorted()
        .join(' ');
    if (Array.isArray(value)) return value.map(shapeOf);
    return Object.fromEntries(Object.entries(value as object).map(([key, inner]) => [key, shapeOf(inner)]));
  };
  expect(JSON.stringify(shapeOf(DOCS.en)).replace('timestamp.body', 'timestamp.corpo')).toEqual(
    JSON.stringify(shapeOf(DOCS.pt)),
  );
  for (const name of SUBSCRIBABLE_NAMES) {
    const { pt, en } = EVENTS[name].meaning;
    expect([name, shapeOf(en)]).toEqual([name, shapeOf(pt)]);
  }
});

test('what is not there is a page that says so', async () => {
  const { status, headers } = await world.visitor().get('/docs/nada');
  expect([status, headers.get('content-type')]).toEqual([404, 'text/html; charset=UTF-8']);
  expect((await world.visitor().get('/docsx')).status).toBe(404);
});

test('the page of verification shows the public keys of checkpoints, and the vectors for them', async () => {
  const { text } = await world.visitor().get('/docs/verificacao');
  expect(text).toContain(SIGNER.text);
  expect(text).toContain('href="/.well-known/carteiro-checkpoint-keys"');
  expect(text).toContain('verifyCheckpoint');
  expect(text).toContain('the log has grown from a power of two on');
});

test('every field of every event says what it means, in both languages, on the page and in the description', async () => {
  const read = async (visitor: Visitor) => unescaped((await visitor.get('/docs/eventos')).text);
  const pages = { pt: await read(world.visitor()), en: await read(await inEnglish()) };
  const described = (await world.visitor().get('/openapi.json?para=tudo')).text;
  for (const field of SUBSCRIBABLE_NAMES.flatMap(dataFieldsOf)) {
    for (const language of ['pt', 'en'] as const) {
      expect([field.name, pages[language].includes(field.meaning[language])]).toEqual([field.name, true]);
    }
    expect([field.name, described.includes(field.meaning.pt)]).toEqual([field.name, true]);
  }
});

test('the start says where deliveries come from, or that nobody promises it', async () => {
  expect((await world.visitor().get('/docs')).text).toContain('203.0.113.0/28\n2001:db8::7');
  const silent = await startPainelWorld({ egressAddresses: [] });
  expect((await silent.visitor().get('/docs')).text).toContain('não promete endereços de saída');
});

test('each rule of the contract stands on /docs/regras, in both languages', async () => {
  const visitor = await inEnglish();
  const [pt, en] = [(await world.visitor().get('/docs/regras')).text, (await visitor.get('/docs/regras')).text].map(
    (text) => (text ?? '').replaceAll(/<[^>]+>/g, '').replaceAll(/\s+/g, ' '),
  );
  const rules = [
    ['margem.concluida não confirma a sua consulta', 'margem.concluida does not confirm your own query'],
    ['skip_cache=true força outra', 'skip_cache=true forces another'],
    ['valor_margem_disponivel / valor_total_vencimentos', 'valor_margem_disponivel / valor_total_vencimentos'],
    ['Não é o gatilho da averbação', 'It is not the trigger of the registration'],
    ['docs_registry.pendente não existe na entrega agrupada', 'docs_registry.pendente does not exist with grouped'],
    ['não bloqueia nem substitui o desembolso', 'neither blocks nor replaces the disbursement'],
    ['exatamente um de emprestimo.emitido e', 'exactly one of emprestimo.emitido and'],
    ['não emita de novo por conta própria', 'do not reissue on your own'],
    ['só na primeira vez', 'only the first time'],
    ['as duas dimensões', 'both dimensions'],
    ['não espere por ele', 'do not wait for it'],
    ['é o operador que configura', 'is set by the operator'],
    ['não têm parceiro_id na raiz', 'no parceiro_id in the root'],
    ['24 h', '24 h'],
    ['15 dias', '15 days'],
    ['7 h 21 min', '7 h 21 min'],
  ] as const;
  expect(rules.filter(([said]) => pt?.includes(said) !== true)).toEqual([]);
  expect(rules.filter(([, said]) => en?.includes(said) !== true)).toEqual([]);
});

test('/docs/integracao.md is the same pages as one Markdown text, which /llms.txt names', async () => {
  const page = await world.visitor().get('/docs/integracao.md');
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/markdown; charset=utf-8']);
  for (const said of ['# No ar em dez minutos', 'margem.concluida', '| ', '```', EXAMPLE_SECRET, 'X-Webhook-Delivery'])
    expect(page.text).toContain(said);
  for (const name of SUBSCRIBABLE_NAMES) expect(page.text).toContain(`\n### \`${name}\``);
  for (const heading of ['Node', 'C#', 'Express', 'Rails']) expect(page.text).toContain(`\n### ${heading}\n`);
  for (const { mend } of Object.values(CHECK_WORDS))
    expect(page.text).toContain(mend.pt.replaceAll('`', '').slice(0, 40));
  expect(page.text).not.toMatch(/<(div|button|table|section)\b|\\_/);
  expect((await (await inEnglish()).get('/docs/integracao.md')).text).toContain('# Live in ten minutes');
  const { hostname, port } = new URL(world.server.url);
  const other = `http://localhost:${port}`;
  expect(page.text).toContain(`CARTEIRO_API=http://${hostname}:${port} `);
  expect(await (await fetch(`${other}/docs/integracao.md`)).text()).toContain(`CARTEIRO_API=${other} `);
  const { status, text } = await world.visitor().get('/llms.txt');
  expect([status, text.startsWith('# Carteiro\n\n> ')]).toEqual([200, true]);
  expect(text).toContain('/docs/integracao.md');
});
