/** `GET /v1/eventos`: the partner's own feed, for recovery without asking anyone. */
import { z } from 'zod';
import { feedPage, type FeedItem } from '../../contract/delivery-resource.ts';
import { EMITTED_NAMES } from '../../contract/events.ts';
import { type FeedEvent, type FeedPlace, readFeed, whereToGoOn } from '../../log/feed.ts';
import { ApiError } from '../api-error.ts';
import { bigintField, epochField, xid8Field } from '../cursor.ts';
import type { HttpDeps } from '../deps.ts';
import type { AddOperation } from '../operation.ts';
import { badCursor, cursor, limite } from '../page.ts';

const place = z
  .tuple([epochField, xid8Field, bigintField])
  .transform(([epoch, tx, position]): FeedPlace => ({ epoch, tx, position }));

export function addEventRoutes(add: AddOperation, { pool, cursors }: HttpDeps): void {
  add(
    {
      method: 'get',
      path: '/v1/eventos',
      summary: 'Todos os eventos do parceiro, na ordem em que se confirmaram, com as suas entregas',
      description:
        'Continue com depois = proximo_cursor enquanto ha_mais for verdadeiro: uma página pode trazer menos itens do que o ' +
        'limite, ou nenhum. Depois disso o mesmo cursor traz o que for novo. Um cursor além do que o registro tem (depois ' +
        'de o banco de dados voltar a um momento anterior) é 409 CURSOR_ADIANTE; o cursor por onde continuar é a mensagem ' +
        'do detalhe depois.',
      scope: 'webhooks:read',
      query: z.strictObject({ depois: cursor, evento: z.enum(EMITTED_NAMES).optional(), limite }),
      answers: { 200: { description: 'Uma página, e o cursor para continuar', schema: feedPage } },
      errors: ['CURSOR_ADIANTE'],
    },
    async ({ partnerId, query: { depois, evento, limite: limit } }, c) => {
      const list = `eventos ${partnerId}`;
      const after = depois === undefined ? null : await cursors.read(list, place, depois);
      if (depois !== undefined && after === null) throw badCursor('depois');
      const write = async ({ epoch, tx, position }: FeedPlace) => cursors.write(list, [epoch, tx, position]);
      const goOn = after === null ? null : await whereToGoOn(pool, partnerId, after);
      if (goOn !== null) throw cursorAhead(await write(goOn));
      const { events, next, hasMore } = await readFeed(pool, { partnerId, event: evento ?? null, after, limit });
      return c.json(
        {
          itens: events.map(view),
          proximo_cursor: next === null ? null : await write(next),
          ha_mais: hasMore,
        },
        200,
      );
    },
  );
}

/** 409 for a cursor whose event the log does not have any more; `goOn` is the one to continue with. */
function cursorAhead(goOn: string): ApiError {
  return new ApiError(
    'CURSOR_ADIANTE',
    'o banco de dados voltou a um momento anterior ao deste cursor; continue com o cursor de detalhes, e trate de novo, ' +
      'pela X-Webhook-Delivery ou pelo evento_id, o que vier depois dele',
    { details: [{ campo: 'depois', mensagem: goOn }] },
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
