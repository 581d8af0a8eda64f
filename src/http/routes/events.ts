/** `GET /v1/eventos`: the partner's own feed, for recovery without asking anyone. */
import { z } from 'zod';
import { feedPage, type FeedItem } from '../../contract/delivery-resource.ts';
import { EMITTED_NAMES } from '../../contract/events.ts';
import { type FeedEvent, readFeed } from '../../log/feed.ts';
import { bigintField, xid8Field } from '../cursor.ts';
import type { HttpDeps } from '../deps.ts';
import type { AddOperation } from '../operation.ts';
import { badCursor, cursor, limite } from '../page.ts';

const place = z.tuple([xid8Field, bigintField]).transform(([tx, position]) => ({ tx, position }));

export function addEventRoutes(add: AddOperation, { pool, cursors }: HttpDeps): void {
  add(
    {
      method: 'get',
      path: '/v1/eventos',
      summary: 'Todos os eventos do parceiro, na ordem em que se confirmaram, com as suas entregas',
      description:
        'Continue com depois = proximo_cursor enquanto ha_mais for verdadeiro: uma página pode trazer menos itens do que o ' +
        'limite, ou nenhum. Depois disso o mesmo cursor traz o que for novo.',
      scope: 'webhooks:read',
      query: z.strictObject({ depois: cursor, evento: z.enum(EMITTED_NAMES).optional(), limite }),
      answers: { 200: { description: 'Uma página, e o cursor para continuar', schema: feedPage } },
    },
    async ({ partnerId, query: { depois, evento, limite: limit } }, c) => {
      const list = `eventos ${partnerId}`;
      const after = depois === undefined ? null : await cursors.read(list, place, depois);
      if (depois !== undefined && after === null) throw badCursor('depois');
      const { events, next, hasMore } = await readFeed(pool, { partnerId, event: evento ?? null, after, limit });
      return c.json(
        {
          itens: events.map(view),
          proximo_cursor: next === null ? null : await cursors.write(list, [next.tx, next.position]),
          ha_mais: hasMore,
        },
        200,
      );
    },
  );
}

function view({ id, loanId, loanVersion, deliveries, body }: FeedEvent): FeedItem {
  return {
    evento_id: id,
    emprestimo_id: loanId,
    versao_emprestimo: loanVersion,
    entregas: [...deliveries],
    envelope: JSON.parse(body.toString('utf8')) as FeedItem['envelope'],
  };
}
