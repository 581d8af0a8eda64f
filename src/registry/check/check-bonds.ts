/** Rules about bonds: pages that end, references that stay, windows that add up. */
import { randomUUIDv7 } from 'node:crypto';
import type { z } from 'zod';
import { endedPage, rehiredPage } from '../../contract/registry-wire.ts';
import { shaped } from '../exchange.ts';
import type { Bridge } from './bridge.ts';
import { Broken, type Look, Unseen } from './rule.ts';

const LISTS = [
  ['/vinculos/desligamentos', endedPage],
  ['/vinculos/novos', rehiredPage],
] as const;
const MOST_PAGES = 1_000;
const FIRST = '2000-01-01T00:00:00.000Z';

interface Item {
  readonly referencia: string;
  readonly parceiro_id: string;
  readonly emprestimo_id: string;
}
type Page = z.ZodType<{ readonly itens: readonly Item[]; readonly proximo_cursor: string | null }>;

export async function checkBonds(bridge: Bridge, look: Look): Promise<void> {
  // The registry may learn more meanwhile; that is in none of the windows.
  const until = new Date(Date.now() - 60_000).toISOString();
  for (const [path, schema] of LISTS) {
    const walk = (query: Readonly<Record<string, string>>) => walkPages(bridge, path, schema, query);
    let whole: readonly Item[] | null = null;
    await look(`GET ${path} lists pages of the shape, and they end`, async () => {
      const { items, pages } = await walk({ desde: FIRST, ate: until });
      whole = items;
      return `${items.length} records in ${pages} pages`;
    });
    const all = (): readonly Item[] => {
      if (whole === null) throw new Unseen('the list could not be read');
      if (whole.length === 0) throw new Unseen('the list is empty');
      return whole;
    };
    await look(`GET ${path} asked again has the same references of the same loans`, async () => {
      const before = loansOf(all());
      const { items } = await walk({ desde: FIRST, ate: until });
      equal(loansOf(items), before);
      return `${before.size} references, each of one loan`;
    });
    await look(`GET ${path} in two windows is the same as in one`, async () => {
      const before = loansOf(all());
      const middle = new Date(Date.parse(until) - 30 * 24 * 60 * 60 * 1_000).toISOString();
      const halves = [await walk({ desde: FIRST, ate: middle }), await walk({ desde: middle, ate: until })];
      equal(loansOf(halves.flatMap(({ items }) => items)), before);
      return `${halves.map(({ items }) => items.length).join(' and ')} records`;
    });
    await look(`GET ${path} of a partner without loans is empty`, async () => {
      const { items } = await walk({ desde: FIRST, ate: until, parceiro_id: randomUUIDv7() });
      if (items.length > 0) throw new Broken(`${items.length} records, of other partners`);
      return 'no record';
    });
  }
}

async function walkPages(bridge: Bridge, path: string, schema: Page, window: Readonly<Record<string, string>>) {
  const items: Item[] = [];
  const seen = new Set<string>();
  const query = new URLSearchParams(window);
  for (let pages = 1; pages <= MOST_PAGES; pages += 1) {
    const answer = await bridge.ask({ method: 'GET', path: `${path}?${query.toString()}` });
    if (answer.status !== 200) throw new Broken(`answered ${answer.status}`);
    const { itens, proximo_cursor: cursor } = shaped(answer, schema);
    items.push(...itens);
    if (cursor === null) return { items, pages };
    if (seen.has(cursor)) throw new Broken('proximo_cursor came again, so the list would never end');
    seen.add(cursor);
    query.set('cursor', cursor);
  }
  throw new Broken(`${MOST_PAGES} pages, and still no last one`);
}

/** Each reference's loan. Throws {@link Broken} for one that has two. */
function loansOf(items: readonly Item[]): Map<string, string> {
  const loans = new Map<string, string>();
  for (const { referencia, emprestimo_id: loan } of items) {
    if ((loans.get(referencia) ?? loan) !== loan) throw new Broken(`referencia ${referencia} is of two loans`);
    loans.set(referencia, loan);
  }
  return loans;
}

function equal(is: ReadonlyMap<string, string>, was: ReadonlyMap<string, string>): void {
  const missing = [...was].filter(([reference, loan]) => is.get(reference) !== loan);
  const [first] = missing;
  if (first !== undefined)
    throw new Broken(`${missing.length} references are missing or of another loan, ${first[0]} say`);
  if (is.size > was.size) throw new Broken(`${is.size - was.size} references more than before`);
}
