/** `GET /v1/eventos`: the partner's own feed, for recovery without asking anyone; and one event of it. */
import { z } from 'zod';
import { feedItem, feedPage, type FeedItem } from '../../contract/resources/delivery-resource.ts';
import { SUBSCRIBABLE_NAMES } from '../../contract/events.ts';
import { readEnvelope } from '../../contract/legible.ts';
import { NOT_FOUND } from '../../contract/refusals.ts';
import { FEED_START, type FedEvent, type FeedCursor, readFeed, readFeedEvent, whereToGoOn } from '../../log/feed.ts';
import { findStart } from '../../log/feed-start.ts';
import { bigintField, epochField, xid8Field } from '../cursor.ts';
import type { HttpDeps } from '../deps.ts';
import { answered } from '../answer.ts';
import { headerOf, MONTHS_HEADER } from './archived-months.ts';
import { route, type Routes } from '../route.ts';
import { cursor, limite, periodStart } from '../page.ts';

const cursorFields = z
  .tuple([epochField, xid8Field, bigintField])
  .transform(([epoch, tx, position]): FeedCursor => ({ epoch, tx, position }));

const SINCE = {
  pt:
    'Onde começar: no primeiro evento registrado neste instante ou depois; dele em diante vêm todos, na ordem da lista. ' +
    'Um instante no futuro vale como agora. Com depois não é lido: o cursor já diz onde continuar',
  en: 'Where to begin: with the first event recorded at this instant or later; from there on all come, in the order of the list. An instant in the future counts as now. With depois it is not read: the cursor says where to go on',
};

const HISTORY = {
  pt:
    'Com true vêm também os eventos importados, de antes de o financiador usar este serviço, marcados com importado, no ponto ' +
    'da lista em que entraram. O mesmo cursor serve com e sem eles',
  en: 'With true the imported events come too, from before the lender used this service, marked by importado, at the point of the list at which they came in. The same cursor serves with and without them',
};

const query = z.strictObject({
  depois: cursor,
  desde: periodStart.optional().meta({ text: SINCE }),
  evento: z.enum(SUBSCRIBABLE_NAMES).optional(),
  historico: z
    .enum(['true', 'false'], 'deve ser true ou false')
    .transform((text) => text === 'true')
    .default(false)
    .meta({ text: HISTORY }),
  limite,
});

export const eventRoutes: Routes = [
  route('GET /v1/eventos', 'webhooks:read', {
    summary: {
      pt: 'Todos os eventos do parceiro, na ordem em que se confirmaram, com as suas entregas',
      en: "All the partner's events in the order of their commits, with their deliveries",
    },
    description: {
      pt:
        'Continue com depois = proximo_cursor enquanto ha_mais for verdadeiro: uma página pode trazer menos itens do que o ' +
        'limite, ou nenhum. Depois disso o mesmo cursor traz o que for novo. Um cursor além do que o registro tem (depois ' +
        'de o banco de dados voltar a um momento anterior) é 409 CURSOR_ADIANTE; o cursor por onde continuar é a mensagem ' +
        'do detalhe depois.',
      en: 'Go on with depois = proximo_cursor while ha_mais is true: a page may bring fewer items than the limit, or none. After that the same cursor brings what is new. A cursor ahead of the log (after the database went back to an earlier moment) is 409 CURSOR_ADIANTE; the cursor to go on from is the message of the detail depois.',
    },
    query,
    answers: {
      200: {
        description: { pt: 'Uma página, e o cursor para continuar', en: 'A page, and the cursor to go on' },
        schema: feedPage,
        optionalHeaders: MONTHS_HEADER,
      },
    },
    errors: ['CURSOR_ADIANTE'],
  })(async ({ partnerId, query: { depois, desde, evento, historico: history, limite: limit } }, deps) => {
    const { pool, cursors } = deps;
    const list = `eventos ${partnerId}`;
    const given = await cursors.read(list, cursorFields, depois, 'depois');
    const after = given ?? (desde === undefined ? null : await findStart(pool, partnerId, desde, history));
    const write = async ({ epoch, tx, position }: FeedCursor) => cursors.write(list, [epoch, tx, position]);
    const goOn = given === null ? null : await whereToGoOn(pool, partnerId, given);
    if (goOn !== null) return { refused: { kind: 'cursorAhead', goOn: await write(goOn) } };
    const { events, next, hasMore } = await readFeed(pool, {
      partnerId,
      event: evento ?? null,
      after,
      limit,
      history,
    });
    const proximo_cursor = next === null ? null : await write(next);
    const itens = (await withArchived(deps, events)).map(view);
    const left = (await deps.archives?.leftAfter(after ?? FEED_START)) ?? [];
    return { status: 200, headers: headerOf(left), body: { itens, proximo_cursor, ha_mais: hasMore } };
  }),
  route('GET /v1/eventos/{id}', 'webhooks:read', {
    since: '0.2',
    summary: {
      pt: 'Um evento do parceiro, pelo evento_id, com as suas entregas',
      en: "One event of the partner's, by its evento_id, with its deliveries",
    },
    answers: answered(200, feedItem, { pt: 'O evento', en: 'The event' }),
  })(async ({ partnerId, id }, deps) => {
    const read = async () => readFeedEvent(deps.pool, partnerId, id);
    const found = (await read()) ?? ((await deps.archives?.bringBack('id', id)) === true ? await read() : null);
    if (found === null) return NOT_FOUND;
    const [event = found] = await withArchived(deps, [found]);
    return { status: 200, body: view(event) };
  }),
];

/** The events with all of their deliveries, also those that left the database. */
async function withArchived({ archives }: HttpDeps, events: readonly FedEvent[]): Promise<readonly FedEvent[]> {
  const archived = await archives?.sentOf(events.map(({ id }) => id));
  if (archived === undefined || archived.size === 0) return events;
  return events.map((event) => {
    const all = [...(archived.get(event.id) ?? []), ...event.deliveries];
    // One that is in both places, as while a month is being removed, is the table's.
    const deliveries = [...new Map(all.map((one) => [one.id, one])).values()];
    return { ...event, deliveries: deliveries.toSorted((one, other) => (one.id < other.id ? -1 : 1)) };
  });
}

function view({ id, loanId, loanVersion, imported, deliveries, body, isErased }: FedEvent): FeedItem {
  const envelope = isErased ? null : (readEnvelope(body) as FeedItem['envelope'] | null);
  return {
    evento_id: id,
    emprestimo_id: loanId,
    versao_emprestimo: loanVersion,
    entregas: [...deliveries],
    ...(isErased ? { apagado: true } : envelope === null ? { ilegivel: true } : { envelope }),
    ...(imported ? { importado: true } : {}),
  };
}
