/** `GET /v1/vinculos/…`: what the nightly sync detected (decisions, "Endpoints"). */
import { z } from 'zod';
import { DEFAULT_BOND_PAGE, endedBondPage, MAX_BOND_PAGE, newBondPage } from '../../contract/bonds.ts';
import { readBonds } from '../../core/read-bonds.ts';
import { readCursor, writeCursor } from '../cursor.ts';
import type { HttpDeps } from '../deps.ts';
import type { AddOperation } from '../operation.ts';
import { badCursor, cursor } from '../page.ts';
import { periodEnd, periodStart } from '../period.ts';

const LIMIT = `deve ser um número inteiro de 1 a ${MAX_BOND_PAGE}`;

const query = z.object({
  desde: periodStart.optional(),
  ate: periodEnd.optional(),
  cursor,
  limite: z
    .string({ error: LIMIT })
    .regex(/^[1-9]\d{0,2}$/, LIMIT)
    .transform(Number)
    .refine((limit) => limit <= MAX_BOND_PAGE, LIMIT)
    .default(DEFAULT_BOND_PAGE)
    .meta({ type: 'integer', minimum: 1, maximum: MAX_BOND_PAGE, description: `Sem ele, ${DEFAULT_BOND_PAGE}` }),
});

export function addBondRoutes(add: AddOperation, deps: HttpDeps): void {
  addList(add, deps, {
    kind: 'ended',
    path: '/v1/vinculos/desligamentos',
    summary: 'Desligamentos detectados, do primeiro ao último',
    schema: endedBondPage,
  });
  addList(add, deps, {
    kind: 'new',
    path: '/v1/vinculos/novos',
    summary: 'Novos vínculos detectados, do primeiro ao último',
    schema: newBondPage,
  });
}

interface List {
  readonly kind: 'ended' | 'new';
  readonly path: string;
  readonly summary: string;
  readonly schema: z.ZodType;
}

function addList(add: AddOperation, { pool }: HttpDeps, { kind, path, summary, schema }: List): void {
  add(
    {
      method: 'get',
      path,
      summary,
      scope: 'vinculos:read',
      query,
      answers: { 200: { description: 'Uma página, e o cursor da próxima', schema } },
    },
    async ({ partnerId, query: { desde, ate, cursor: given, limite } }, c) => {
      const list = `${path} ${partnerId}`;
      const place = given === undefined ? null : readCursor(list, given);
      if (given !== undefined && place === null) {
        throw badCursor();
      }
      const { bonds, hasMore } = await readBonds(pool, {
        partnerId,
        kind,
        from: desde ?? null,
        until: ate ?? null,
        after: place === null ? null : { detectedAt: place.at, id: place.id },
        limit: limite,
      });
      const last = bonds.at(-1);
      const next = hasMore && last !== undefined ? writeCursor(list, { at: last.detectedAt, id: last.id }) : null;
      const itens = bonds.map(({ data, detectedAt }) =>
        Object.assign(data, { detectado_em: detectedAt.toISOString() }),
      );
      return c.json({ itens, proximo_cursor: next }, 200);
    },
  );
}
