/** Every list of the page, with tokens that do not fit, another partner's ids, markup where data should be, and ten thousand rows. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { sealAll } from '../../src/audit/seals/sealer.ts';
import { LOAN_EXAMPLE } from '../../src/contract/resources/loan-example.ts';
import type { LocalKeys } from '../../src/http/auth/keys-local.ts';
import { commitEvents } from '../support/outbox.ts';
import { startPainelWorld, unescaped, WRITER } from '../support/painel.ts';
import { untilSettled } from '../support/settled.ts';

const PARTNERS = ['/painel/visao', '/painel/entregas', '/painel/webhooks', '/painel/emprestimos', '/painel/eventos'];
const AUDITORS = [
  '/painel/auditoria',
  '/painel/auditoria/balanco?de=2026-01-20&ate=2026-02-05',
  '/painel/auditoria/selos',
];
const OPERATORS = ['/painel/operacao'];
const MARKUP = '<img src=x onerror=alert(1)>"\'&';
const MANY = 10_000;

const world = await startPainelWorld();
const partner = await world.subscriber();
const webhook = await partner.register();
/** Of another partner, whose words are markup wherever it has a word. */
const other = await world.subscriber();
const { id: webhookId } = await other.register();
await world.api.database.sql`update partners set name = ${MARKUP} where id = ${other.id}`;
const token = await world.api.token(other.id, [...WRITER, 'emprestimos:write', 'sandbox']);
const headers = { 'Idempotency-Key': 'one' };
const body = { ...LOAN_EXAMPLE, nome_trabalhador: MARKUP, matricula: MARKUP };
const made = await world.api.send<{ id: string }>('POST', '/v1/emprestimos', { token, body, headers });
const stream = randomUUID();
const data = JSON.stringify({ emprestimo_id: stream, numero_emprestimo: '2026-00000001', motivo: MARKUP });
await world.api.database.sql`
    select append_event(${stream}, 0, 'desembolso.falhou', ${other.id}, ${data}::text::json, 'test')`;
world.receiver.answerWith((_post, response) => void response.writeHead(500).end(MARKUP));
await world.deliver();
await untilSettled(world.api.database.sql);
await sealAll(world.api.database.pool);
const [row] = await world.api.database.sql<[{ id: string }]>`
    select id from deliveries where partner_id = ${other.id} limit 1`;
const others: { webhookId: string; deliveryId: string; loanId: string } = {
  webhookId,
  deliveryId: row.id,
  loanId: made.body.id,
};

describe('a token', () => {
  test.each([...PARTNERS, ...AUDITORS, ...OPERATORS])(
    'that is expired, wrong or too narrow opens no %s',
    async (path) => {
      const keys = world.api.deps.tokens.keys as LocalKeys;
      const expired = await keys.signToken({ partnerId: partner.id, scopes: WRITER, ttlSeconds: -60 });
      const good = await world.api.token(partner.id, WRITER);
      const altered = `${good.slice(0, -8)}${good.endsWith('AAAAAAAA') ? 'BBBBBBBB' : 'AAAAAAAA'}`;
      for (const token of [expired, altered, 'nonsense']) {
        const visitor = world.visitor();
        visitor.cookies.set('carteiro_painel', token);
        const { status, headers, text } = await visitor.get(path);
        expect([status, headers.get('location')?.startsWith('/painel/entrar?motivo=fim'), text]).toEqual([
          303,
          true,
          '',
        ]);
        expect(visitor.cookies.has('carteiro_painel')).toBe(false);
      }
      const narrow = await world.signedIn(partner.id, ['webhooks:read']);
      const isOpen = PARTNERS.includes(path) && path !== '/painel/emprestimos';
      expect([path, (await narrow.get(path)).status]).toEqual([path, isOpen ? 200 : 403]);
    },
  );
});

describe('another partner’s ids', () => {
  test('bring nothing into a list, whatever filter they stand in', async () => {
    const visitor = await world.signedIn(partner.id);
    const { webhookId, deliveryId, loanId } = others;
    const ids = [webhookId, deliveryId, loanId];
    const lists = [
      ...PARTNERS,
      `/painel/entregas?webhook=${webhookId}`,
      `/painel/entregas?emprestimo=${loanId}`,
      `/painel/entregas?id=${deliveryId}`,
      `/painel/entregas?id=${loanId}`,
      `/painel/emprestimos?id=${loanId}`,
    ];
    for (const path of lists) {
      const { text } = await visitor.get(path);
      // The form repeats what was looked for; a link would show that it was found.
      expect([path, ids.filter((id) => new RegExp(`/${id}["?/]`).test(text))]).toEqual([path, []]);
      expect(text).not.toContain('onerror=alert');
    }
    for (const path of [`webhooks/${webhookId}`, `entregas/${deliveryId}`, `emprestimos/${loanId}`]) {
      expect([path, (await visitor.get(`/painel/${path}`)).status]).toEqual([path, 404]);
    }
  });
});

test('markup in names, payloads and answers is text on every page that shows it', async () => {
  const own = await world.signedIn(other.id);
  const auditor = await world.signedIn(undefined, ['auditoria:read', 'auditoria:cpf']);
  const operator = await world.signedIn(undefined, ['operador']);
  const pages = [
    ...PARTNERS.map((path) => [own, path] as const),
    [own, `/painel/entregas/${others.deliveryId}`] as const,
    [own, `/painel/emprestimos/${others.loanId}`] as const,
    [own, `/painel/webhooks/${others.webhookId}`] as const,
    ...AUDITORS.map((path) => [auditor, path] as const),
    [auditor, `/painel/auditoria/entregas/${others.deliveryId}`] as const,
    [operator, '/painel/operacao'] as const,
    [operator, `/painel/operacao/parceiros/${other.id}`] as const,
    [operator, `/painel/operacao/webhooks/${others.webhookId}`] as const,
  ];
  let escaped = 0;
  for (const [visitor, path] of pages) {
    const { status, text } = await visitor.get(path);
    expect([path, status, text.includes('<img src=x')]).toEqual([path, 200, false]);
    if (text.includes('&lt;img src=x')) escaped += 1;
  }
  expect(escaped).toBeGreaterThan(5);
});

test('ten thousand rows are shown a page at a time, and each one once', async () => {
  await commitEvents(world.api.database.sql, partner.id, MANY);
  const visitor = await world.signedIn(partner.id);
  const operator = await world.signedIn(undefined, ['operador']);
  for (const [reader, path] of [
    ...PARTNERS.map((path) => [visitor, path] as const),
    [visitor, `/painel/webhooks/${webhook.id}`] as const,
    [operator, '/painel/operacao'] as const,
    [operator, `/painel/operacao/webhooks/${webhook.id}`] as const,
  ]) {
    const { status, text } = await reader.get(path);
    expect([path, status]).toEqual([path, 200]);
    expect([path, (text.match(/<(tr|li)[ >]/g) ?? []).length < 300]).toEqual([path, true]);
  }
  const seen: string[] = [];
  let path: string | undefined = `/painel/entregas?webhook=${webhook.id}`;
  let pages = 0;
  for (; path !== undefined; pages += 1) {
    const { text } = await visitor.get(path);
    seen.push(...[...text.matchAll(/<a href="\/painel\/entregas\/([\w-]{36})"/g)].map(([, id]) => id as string));
    path = /rel="next" href="([^"]+)"/.exec(unescaped(text))?.[1];
  }
  expect([seen.length, new Set(seen).size, pages > 50]).toEqual([MANY, MANY, true]);
});
