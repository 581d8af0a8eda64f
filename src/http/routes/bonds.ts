/** `GET /v1/vinculos/…`: what the nightly sync detected. */
import { z } from 'zod';
import { DEFAULT_BOND_PAGE, endedBondPage, MAX_BOND_PAGE, newBondPage } from '../../contract/resources/bonds.ts';
import { id } from '../../contract/values.ts';
import { readBonds } from '../../core/bonds/read-bonds.ts';
import { momentField } from '../cursor.ts';
import type { HttpDeps } from '../deps.ts';
import type { AddOperation } from '../operation.ts';
import { cursor, readCursor, unlessGiven } from '../page.ts';
import { periodEnd, periodStart } from '../period.ts';

const LIMIT = `deve ser um número inteiro de 1 a ${MAX_BOND_PAGE}`;

const cursorFields = z.tuple([momentField, id]).transform(([detectedAt, record]) => ({ detectedAt, id: record }));

const query = z.strictObject({
  desde: periodStart.optional(),
  ate: periodEnd.optional(),
  cursor,
  limite: z
    .string({ error: LIMIT })
    .regex(/^[1-9]\d{0,2}$/, LIMIT)
    .transform(Number)
    .refine((limit) => limit <= MAX_BOND_PAGE, LIMIT)
    .default(DEFAULT_BOND_PAGE)
    .meta({ type: 'integer', minimum: 1, maximum: MAX_BOND_PAGE, text: unlessGiven(DEFAULT_BOND_PAGE) }),
});

const shared = { method: 'get', scope: 'vinculos:read', query } as const;
const PAGE = { pt: 'Uma página, e o cursor da próxima', en: 'A page, and the cursor of the next' };

export function addBondRoutes(add: AddOperation, { pool, cursors }: HttpDeps): void {
  const listOf = <K extends 'ended' | 'new'>(kind: K, path: string) => {
    return async (partnerId: string, asked: z.output<typeof query>) => {
      const list = `${path} ${partnerId}`;
      const after = await readCursor(cursors, list, cursorFields, asked.cursor);
      if ('refused' in after) return after;
      const { bonds, hasMore } = await readBonds(pool, {
        partnerId,
        kind,
        from: asked.desde ?? null,
        until: asked.ate ?? null,
        after: after.ok,
        limit: asked.limite,
      });
      const last = bonds.at(-1);
      const proximo_cursor =
        hasMore && last !== undefined ? await cursors.write(list, [last.detectedAt.toISOString(), last.id]) : null;
      const itens = bonds.map(({ data, detectedAt }) =>
        Object.assign(data, { detectado_em: detectedAt.toISOString() }),
      );
      return { status: 200, body: { itens, proximo_cursor } } as const;
    };
  };

  const endedPath = '/v1/vinculos/desligamentos';
  const listEnded = listOf('ended', endedPath);
  add(
    {
      ...shared,
      path: endedPath,
      summary: {
        pt: 'Desligamentos detectados, do primeiro ao último',
        en: 'Ends of bond that were detected, the first one first',
      },
      answers: { 200: { description: PAGE, schema: endedBondPage } },
    },
    async ({ partnerId, query: asked }) => listEnded(partnerId, asked),
  );

  const newPath = '/v1/vinculos/novos';
  const listNew = listOf('new', newPath);
  add(
    {
      ...shared,
      path: newPath,
      summary: {
        pt: 'Novos vínculos detectados, do primeiro ao último',
        en: 'Rehires that were detected, the first one first',
      },
      answers: { 200: { description: PAGE, schema: newBondPage } },
    },
    async ({ partnerId, query: asked }) => listNew(partnerId, asked),
  );
}
