/**
 * The page in a real Chromium: each page in both widths, by keyboard alone, and without a fault that a browser or axe sees.
 * Chromium is CHROMIUM or Debian's own; where it is absent these tests are skipped.
 */
import { existsSync } from 'node:fs';
import axe from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sealAll } from '../../src/audit/seals/sealer.ts';
import { LOAN_EXAMPLE } from '../../src/contract/resources/loan-example.ts';
import type { Subscriber } from '../support/delivery-world.ts';
import { type PainelWorld, startPainelWorld, WRITER } from '../support/painel.ts';
import { status } from '../support/receiver.ts';
import { untilSettled } from '../support/settled.ts';

const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
const isThere = existsSync(CHROMIUM);
if (!isThere) console.info(`skipped: no browser at ${CHROMIUM} (apt install chromium, or set CHROMIUM)`);

const QUIET = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'];
/** The rules of WCAG 2.1, A and AA, and axe's own advice. */
const ALL = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'];
const COLOURS = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] };
/** Each page is loaded once, and looked at in each width and theme. A phone's other theme has other colours and nothing else. */
const VIEWS = [
  [320, 'dark', ALL],
  [390, 'light', COLOURS],
  [1280, 'light', ALL],
] as const;
const REFERENCE = '/docs/api';
const DOCS = [
  '/docs',
  '/docs/eventos',
  '/docs/verificacao',
  '/docs/calendario',
  '/docs/regras',
  '/docs/mudancas',
  REFERENCE,
];
/** Swagger UI's own markup, which no style mends: a link inside of a button, a select without a name, its own `main`. */
const OF_SWAGGER_UI =
  /^(nested-interactive: <button [^>]*class="opblock-summary-control"|select-name: <select class="examples-select-element"|heading-order: <h3 class="opblock-tag"|landmark-[a-z-]+: <main )/;
const PLAYER = [...WRITER, 'emprestimos:write', 'sandbox'] as const;

/** Rules that axe finds broken, put together in the page: all that it tells is large. None of them reads style sheets on its own. */
const axeWith = (runOnly: object) => `
  axe.run(document, ${JSON.stringify({ preload: { assets: ['media'] }, selectors: false, resultTypes: ['violations'], runOnly })})
    .then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))`;

interface Watched {
  readonly page: Page;
  /** What the console said that is an error, and whom the page asked beside this host. */
  readonly faults: string[];
  close(): Promise<void>;
}

describe.skipIf(!isThere)('the page in a browser', () => {
  let world: PainelWorld;
  let browser: Browser;
  let partner: Subscriber;
  let webhookId: string;
  let deliveryId: string;
  let eventId: string;
  let loanId: string;

  beforeAll(async () => {
    world = await startPainelWorld();
    browser = await chromium.launch({
      executablePath: CHROMIUM,
      args: [...QUIET, '--disable-component-update', '--disable-sync'],
    });
    partner = await world.subscriber();
    const webhook = await partner.register();
    webhookId = webhook.id;
    world.receiver.answerWith(status(503, '<script>alert(1)</script>'), webhook.path);
    await partner.emit();
    await world.deliver();
    await untilSettled(world.api.database.sql);
    await sealAll(world.api.database.pool);
    const [row] = await world.api.database.sql<
      [{ id: string; eventId: string }]
    >`select id, event_id as "eventId" from deliveries limit 1`;
    ({ id: deliveryId, eventId } = row);
    const token = await world.api.token(partner.id, PLAYER);
    const key = { 'Idempotency-Key': 'one' };
    loanId = (
      await world.api.send<{ id: string }>('POST', '/v1/emprestimos', { token, body: LOAN_EXAMPLE, headers: key })
    ).body.id;
  });
  afterAll(() => browser.close());

  async function open(width: number): Promise<Watched> {
    const context = await browser.newContext({
      viewport: { width, height: 800 },
      locale: 'pt-BR',
      // A color that is on its way is neither theme's.
      reducedMotion: 'reduce',
      permissions: ['clipboard-write', 'clipboard-read'],
    });
    // It catches what hangs.
    context.setDefaultTimeout(300_000);
    const page = await context.newPage();
    const faults: string[] = [];
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('request', (request) => {
      if (!request.url().startsWith(`${world.server.url}/`)) faults.push(`asked ${request.url()}`);
    });
    return { page, faults, close: () => context.close() };
  }

  async function signIn(page: Page, token: string): Promise<void> {
    await page.goto(`${world.server.url}/painel/entrar`);
    await page.getByLabel('Token').fill(token);
    await page.getByRole('button', { name: 'Entrar', exact: true }).click();
    await page.waitForURL((url) => url.pathname !== '/painel/entrar');
    await page.getByRole('button', { name: 'Sair' }).waitFor();
  }

  const signInAsPartner = async (page: Page) => signIn(page, await world.api.token(partner.id, PLAYER));

  const partnerPages = () => [
    '/painel/visao',
    '/painel/entregas',
    `/painel/entregas/${deliveryId}`,
    '/painel/entregas?status=nada',
    '/painel/webhooks',
    `/painel/webhooks/${webhookId}`,
    `/painel/webhooks/${webhookId}/credenciais`,
    `/painel/webhooks/${webhookId}/teste?evento=averbacao.falhou`,
    '/painel/webhooks/novo',
    '/painel/avisos',
    '/painel/emprestimos',
    `/painel/emprestimos/${loanId}`,
    '/painel/eventos',
    `/painel/eventos/${eventId}`,
    `/painel/webhooks/${webhookId}/recuperar?desde=2020-01-01T00:00&contar=sim`,
    '/painel/sandbox',
  ];
  const auditorPages = () => [
    '/painel/auditoria',
    '/painel/auditoria/balanco?de=2026-01-20&ate=2026-02-05',
    '/painel/auditoria/selos',
    `/painel/auditoria/entregas/${deliveryId}`,
  ];

  const OVERLAPPING_FIELDS = `(() => {
    const boxes = [...document.querySelectorAll('details.filters :is(input, select)')].map((one) => one.getBoundingClientRect());
    const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
    return boxes.filter((one, at) => boxes.some((other, index) => index > at && meet(one, other))).length;
  })()`;

  /** Questions that are open and show the name of their act more than once. */
  const TWICE_NAMED = `[...document.querySelectorAll('.confirm[open]')].map((one) => {
    const [act] = one.querySelectorAll('form button');
    const shown = [...one.querySelectorAll('summary, h2, h3, button')];
    return shown.filter((part) => part.innerText.startsWith(act.innerText)).length;
  }).filter((count) => count !== 1).length`;

  /** A colour that is on its way to another is neither; and the page hears of its theme in the next frame alone. */
  const SETTLED = `(async () => {
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    await frame();
    await frame();
    await Promise.allSettled(document.getAnimations().map((one) => one.finished));
  })()`;

  /** Opens every part of each page, and holds it to each width and to axe. */
  async function inspect(page: Page, paths: readonly string[]): Promise<void> {
    for (const path of paths) {
      await page.goto(world.server.url + path);
      if (path === REFERENCE) await openReference(page);
      await page.evaluate('for (const part of document.querySelectorAll("main details")) part.open = true');
      // As a function of the page's own world, which its policy does not govern.
      await page.evaluate(axe.source);
      expect([path, await page.evaluate(TWICE_NAMED)]).toEqual([path, 0]);
      for (const [width, colorScheme, rules] of VIEWS) {
        await page.setViewportSize({ width, height: 800 });
        await page.emulateMedia({ colorScheme });
        await page.evaluate(SETTLED);
        const wide = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth');
        expect.soft([path, width, wide]).toEqual([path, width, 0]);
        expect.soft([path, width, await page.evaluate(OVERLAPPING_FIELDS)]).toEqual([path, width, 0]);
        const found = await page.evaluate<string[]>(axeWith(rules));
        const own = found.filter((finding) => path !== REFERENCE || !OF_SWAGGER_UI.test(finding));
        expect.soft([path, width, own]).toEqual([path, width, []]);
      }
    }
  }

  test('every page fits 320, 390 and 1280 px, asks no other host, and has no finding of axe', async () => {
    const { page, faults, close } = await open(1280);
    await inspect(page, ['/painel/entrar']);
    await inspect(page, DOCS);
    await page.getByRole('button', { name: 'English' }).click();
    // A click does not wait for where it leads, and what is opened next would cut it short.
    await page.getByRole('button', { name: 'Português' }).waitFor();
    await inspect(page, DOCS);
    await page.getByRole('button', { name: 'Português' }).click();
    await page.getByRole('button', { name: 'English' }).waitFor();
    await signInAsPartner(page);
    await inspect(page, partnerPages());
    await signIn(page, await world.api.token(undefined, ['auditoria:read']));
    await inspect(page, auditorPages());
    const wide = await world.subscriber();
    const body = { url: `https://partner.example/${'x'.repeat(2_000)}`, eventos: ['margem.concluida'] };
    await world.api.send('POST', '/v1/webhooks', { token: await world.api.token(wide.id, WRITER), body });
    await signIn(page, await world.api.token(undefined, ['operador']));
    await inspect(page, [
      '/painel/operacao',
      `/painel/operacao/webhooks/${webhookId}`,
      `/painel/operacao/entregas/${deliveryId}`,
      `/painel/operacao/parceiros/${partner.id}`,
      `/painel/operacao/parceiros/${wide.id}`,
    ]);
    // The search that is none is answered 400, which the console tells of.
    expect(faults.filter((fault) => !fault.includes('400 (Bad Request)'))).toEqual([]);
    await close();
  });

  test('a receiver is tried from its page, which shows each check as it is judged and gives the report', async () => {
    const { page, faults, close } = await open(1280);
    await signInAsPartner(page);
    await page.goto(`${world.server.url}/painel/webhooks/${webhookId}`);
    await page.getByText('Homologar…').click();
    await page.getByRole('button', { name: 'Homologar' }).click();
    // It answers 200 to everything.
    await page.getByText('reprovada').waitFor();
    await page.getByText('Recusa uma assinatura errada').waitFor();
    const [report] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Baixar o relatório assinado' }).click(),
    ]);
    expect(report.suggestedFilename()).toMatch(/^homologacao-[\da-f-]{36}\.txt$/);
    await inspect(page, [new URL(page.url()).pathname, `/painel/webhooks/${webhookId}`]);
    expect(faults).toEqual([]);
    await close();
  });

  test('the reference shows every operation in both languages, finds one, and sends a request to this host', async () => {
    const { page, faults, close } = await open(1280);
    for (const [file, said] of [
      ['openapi.json', 'Registra um webhook'],
      ['openapi.en.json', 'Registers a webhook'],
    ] as const) {
      await page.goto(`${world.server.url}/docs/api`);
      if (file === 'openapi.en.json') await page.getByRole('button', { name: 'English' }).click();
      const { paths } = (await (await fetch(`${world.server.url}/${file}?para=tudo`)).json()) as { paths: object };
      await page.locator(`html[lang^=${file === 'openapi.json' ? 'pt' : 'en'}]`).waitFor();
      await page.locator('.opblock-tag').first().waitFor();
      for (const tag of await page.locator('.opblock-tag').all()) await tag.click();
      await page.getByText(said).first().waitFor();
      const operations = Object.values(paths).flatMap((methods: object) => Object.keys(methods));
      expect(await page.locator('.opblock:not(.opblock-webhooks *)').count()).toBeGreaterThanOrEqual(operations.length);
    }
    await page.getByRole('button', { name: 'Authorize' }).click();
    await page.locator('.auth-container input').fill(await world.api.token(partner.id, PLAYER));
    await page.locator('.auth-container').getByRole('button', { name: 'Apply' }).click();
    await page.locator('.auth-container').getByRole('button', { name: 'Close' }).click();
    await page.getByPlaceholder('Filter by tag').fill('webhooks');
    const operation = page.locator('#operations-webhooks-getWebhooks');
    await operation.locator('.opblock-summary-control').click();
    await operation.getByRole('button', { name: 'Try it out' }).click();
    await operation.getByRole('button', { name: 'Execute' }).click();
    await operation.locator('.live-responses-table .response-col_status').getByText('200').waitFor();
    expect(faults).toEqual([]);
    await close();
  });

  test('the overview and the inbox go on by themselves', async () => {
    const { page, faults, close } = await open(1280);
    await signInAsPartner(page);
    await page.locator('.chart canvas').first().waitFor();
    const delivered = page.locator('.tile', { hasText: 'Entregues' }).locator('dd');
    const before = Number(await delivered.textContent());
    world.receiver.answerWith(status(200));
    await partner.register();
    await partner.emit();
    await world.deliver();
    await expect.poll(async () => Number(await delivered.textContent()), { timeout: 300_000 }).toBeGreaterThan(before);
    expect(await page.locator('.chart canvas').count()).toBe(2);
    await page.goto(`${world.server.url}/painel/sandbox`);
    await page.getByRole('button', { name: /Abrir a caixa/ }).click();
    await page.getByText('Caixa aberta').waitFor();
    await partner.emit();
    await world.deliver();
    await page.getByText('assinatura confere').first().waitFor();
    expect(faults).toEqual([]);
    await close();
  });

  test('the sandbox draws the loan that its select chooses, and goes on with it', async () => {
    const token = await world.api.token(partner.id, PLAYER);
    const headers = { 'Idempotency-Key': 'two' };
    const made = await world.api.send<{ id: string }>('POST', '/v1/emprestimos', {
      token,
      body: LOAN_EXAMPLE,
      headers,
    });
    const { page, faults, close } = await open(1280);
    await signInAsPartner(page);
    await page.goto(`${world.server.url}/painel/sandbox?emprestimo=${made.body.id}`);
    const drawn = (id: string) => page.locator(`#emprestimo a[href="/painel/emprestimos/${id}"]`);
    await drawn(made.body.id).waitFor();
    await page.locator('select[name=emprestimo]').selectOption(loanId);
    await drawn(loanId).waitFor();
    const chosen = await page.locator('input[name=emprestimo]').all();
    expect(await Promise.all(chosen.map((field) => field.inputValue()))).toEqual([loanId, loanId]);
    expect(faults).toEqual([]);
    await close();
  });

  test('on a phone each status of the list of deliveries is seen whole', async () => {
    const { page, close } = await open(360);
    await signInAsPartner(page);
    await page.goto(`${world.server.url}/painel/entregas`);
    const cells = await page.locator('.scroll td:nth-child(2)').all();
    const ends = await Promise.all(
      cells.map((cell) => cell.boundingBox().then((box) => (box?.x ?? 0) + (box?.width ?? 360))),
    );
    expect(ends.length).toBeGreaterThan(0);
    expect(Math.max(...ends)).toBeLessThan(348);
    await close();
  });

  test('the slider shows the loan as it was, and the secret can be copied', async () => {
    const { page, faults, close } = await open(1280);
    await signInAsPartner(page);
    await page.goto(`${world.server.url}/painel/emprestimos/${loanId}`);
    const token = await world.api.token(partner.id, PLAYER);
    await world.api.send('POST', `/v1/sandbox/emprestimos/${loanId}/assinatura`, { token });
    await page.reload();
    await page.locator('#versao').press('ArrowLeft');
    await page.waitForURL('**versao=1');
    await page.locator('.wide .state-now').getByText('em assinatura').waitFor();

    await page.goto(`${world.server.url}/painel/webhooks/novo`);
    await page.getByLabel('URL').fill(`${world.receiver.url}/copia`);
    await page.getByLabel(/averbacao.falhou/).check();
    await page.getByRole('button', { name: 'Criar webhook' }).click();
    await page.getByRole('button', { name: 'Copiar' }).click();
    await page.getByRole('button', { name: 'Copiado' }).waitFor();
    expect(faults).toEqual([]);
    await close();
  });

  test('the form of credentials shows the fields of the chosen kind alone', async () => {
    const { page, faults, close } = await open(1280);
    await signInAsPartner(page);
    await page.goto(`${world.server.url}/painel/webhooks/${webhookId}/credenciais`);
    const shown = async () => {
      const kinds = await page.locator('[data-kind]').all();
      const visible = await Promise.all(kinds.map((kind) => kind.isVisible()));
      return visible.filter(Boolean).length;
    };
    expect(await shown()).toBe(0);
    for (const [label, field] of [
      ['usuário e senha (Basic)', 'Senha'],
      ['token fixo (Bearer)', 'Token'],
      ['OAuth 2, client credentials', 'client_secret'],
    ] as const) {
      await page.getByLabel(label, { exact: true }).check();
      expect([label, await shown()]).toEqual([label, 1]);
      expect(await page.getByLabel(field, { exact: true }).isVisible()).toBe(true);
    }
    expect(faults).toEqual([]);
    await close();
  });

  test('a search draws the list alone, and its address tells it', async () => {
    const { page, faults, close } = await open(1280);
    await signInAsPartner(page);
    await page.goto(`${world.server.url}/painel/entregas`);
    await page.evaluate('document.body.classList.add("same-page")');
    await page.getByText('Filtros').click();
    await page.locator('select[name=status]').selectOption('suspensa');
    await page.getByRole('button', { name: 'Filtrar', exact: true }).click();
    await page.getByText('Nenhuma entrega com estes filtros').waitFor();
    expect(page.url()).toContain('status=suspensa');
    expect(await page.evaluate('document.body.classList.contains("same-page")')).toBe(true);
    expect(faults).toEqual([]);
    await close();
  });

  test('a delivery is found, read and sent again by keyboard alone', async () => {
    const { page, faults, close } = await open(1280);
    await signInAsPartner(page);
    await page.goto(`${world.server.url}/painel/entregas`);
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.className')).toBe('skip');
    await tabTo(page, (name) => name === 'desembolso.falhou');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/painel/entregas/*');
    await tabTo(page, (name) => name === 'Reenviar…');
    await page.keyboard.press('Enter');
    await tabTo(page, (name) => name === 'Reenviar');
    await page.keyboard.press('Enter');
    await page.getByRole('status').filter({ hasText: 'foi reenviada' }).waitFor();
    expect(faults).toEqual([]);
    await close();
  });
});

/** The first operation of the reference, opened. */
async function openReference(page: Page): Promise<void> {
  await page.locator('.opblock-tag').first().click();
  await page.locator('.opblock-summary-control').first().click();
  await page.locator('.responses-table').first().waitFor();
}

/** Presses Tab until what has the focus is the one; throws when it comes around without. */
async function tabTo(page: Page, isIt: (name: string) => boolean): Promise<void> {
  for (let pressed = 0; pressed < 100; pressed += 1) {
    await page.keyboard.press('Tab');
    const name = await page.evaluate('document.activeElement.innerText.trim()');
    if (isIt(String(name))) return;
  }
  throw new Error('the keyboard does not get there');
}
