/** `GET /v1/vinculos/…`: what the nightly sync detected. */
import { z } from 'zod';
import { DEFAULT_BOND_PAGE, endedBondPage, MAX_BOND_PAGE, newBondPage } from '../../contract/resources/bonds.ts';
import { id } from '../../contract/values.ts';
import { readBonds } from '../../core/bonds/read-bonds.ts';
import { answered } from '../answer.ts';
import { momentField } from '../cursor.ts';
import type { HttpDeps } from '../deps.ts';
import { route, type Routes } from '../route.ts';
import { cursor, limitOf, PAGE_ANSWER, periodEnd, periodStart } from '../page.ts';

const cursorFields = z.tuple([momentField, id]).transform(([detectedAt, record]) => ({ detectedAt, id: record }));

const query = z.strictObject({
  desde: periodStart.optional(),
  ate: periodEnd.optional(),
  cursor,
  limite: limitOf(MAX_BOND_PAGE, DEFAULT_BOND_PAGE),
});

export const bondRoutes: Routes = [
  route('GET /v1/vinculos/desligamentos', 'vinculos:read', {
    summary: {
      pt: 'Desligamentos detectados, do primeiro ao último',
      en: 'Ends of bond that were detected, the first one first',
    },
    query,
    answers: answered(200, endedBondPage, PAGE_ANSWER),
  })((call, deps) => list('ended', call, deps)),
  route('GET /v1/vinculos/novos', 'vinculos:read', {
    summary: {
      pt: 'Novos vínculos detectados, do primeiro ao último',
      en: 'Rehires that were detected, the first one first',
    },
    query,
    answers: answered(200, newBondPage, PAGE_ANSWER),
  })((call, deps) => list('new', call, deps)),
];

async function list<K extends 'ended' | 'new'>(
  kind: K,
  call: { readonly path: string; readonly partnerId: string; readonly query: z.output<typeof query> },
  { pool, cursors }: HttpDeps,
) {
  const { partnerId, query: asked } = call;
  const name = `${call.path} ${partnerId}`;
  const after = await cursors.read(name, cursorFields, asked.cursor);
  const { desde: from = null, ate: until = null, limite: limit } = asked;
  const { bonds, hasMore } = await readBonds(pool, { partnerId, kind, from, until, after, limit });
  const last = bonds.at(-1);
  const proximo_cursor =
    hasMore && last !== undefined ? await cursors.write(name, [last.detectedAt.toISOString(), last.id]) : null;
  const itens = bonds.map(({ data, detectedAt }) => Object.assign(data, { detectado_em: detectedAt.toISOString() }));
  return { status: 200, body: { itens, proximo_cursor } } as const;
}
