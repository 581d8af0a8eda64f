/**
 * Makes the README's pictures: `node test/painel/pictures.ts http://127.0.0.1:3000`, against a running sandbox with a few
 * loans in it. Chromium is CHROMIUM or Debian's own.
 */
import path from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';

const FOLDER = path.resolve(import.meta.dirname, '../../src/painel/pictures');
const [url = 'http://127.0.0.1:3000'] = process.argv.slice(2);

interface Picture {
  readonly name: string;
  readonly path: string;
  readonly width: number;
  readonly isDark?: boolean;
  readonly before?: (page: Page) => Promise<unknown>;
}

const first = (page: Page) => page.locator('main td a').first().click();

const PICTURES: readonly Picture[] = [
  {
    name: 'overview',
    path: '/painel/visao',
    width: 1_100,
    before: (page) => page.locator('.chart canvas').first().waitFor(),
  },
  { name: 'deliveries', path: '/painel/entregas', width: 1_100 },
  { name: 'delivery', path: '/painel/entregas?resultado=resposta_nao_2xx', width: 1_100, before: first },
  { name: 'loan', path: '/painel/emprestimos', width: 1_100, before: first },
  { name: 'sandbox', path: '/painel/sandbox', width: 1_100, isDark: true },
  { name: 'phone', path: '/painel/webhooks', width: 360 },
];

const browser = await chromium.launch({
  executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
});
for (const picture of PICTURES) await take(browser, picture);
await browser.close();

async function take(from: Browser, { name, path: to, width, isDark = false, before }: Picture): Promise<void> {
  const colorScheme = isDark ? 'dark' : 'light';
  const context = await from.newContext({ viewport: { width, height: 640 }, colorScheme, locale: 'pt-BR' });
  const page = await context.newPage();
  await page.goto(`${url}/painel/entrar`);
  await page.getByRole('button', { name: 'Entrar no sandbox' }).click();
  await page.getByRole('button', { name: 'Sair' }).waitFor();
  await page.goto(url + to);
  await before?.(page);
  await page.waitForLoadState();
  await page.screenshot({ path: path.join(FOLDER, `${name}.png`) });
  await context.close();
}
