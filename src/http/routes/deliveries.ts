/** Deliveries as their partner sees them, listed: of one webhook, or of all. */
import { z } from 'zod';
import { csv, MARK } from '../../audit/export/formats.ts';
import * as contract from '../../contract/resources/delivery-resource.ts';
import { NOT_FOUND } from '../../contract/refusals.ts';
import { id as uuid } from '../../contract/values.ts';
import { type DeliveryList, type DeliverySearch, readDeliveries } from '../../delivery/partner/read-deliveries.ts';
import type { Pool } from '../../db/pool.ts';
import { readWebhook, readWebhookIds } from '../../webhooks/webhooks.ts';
import type { HttpDeps } from '../deps.ts';
import { BodyStream } from '../answer.ts';
import { MONTHS_HEADER, monthsAway } from './archived-months.ts';
import type { Cursors } from '../cursor.ts';
import { route, type Routes } from '../route.ts';
import { cursor, limite, PAGE_ANSWER, periodEnd, periodStart } from '../page.ts';

/** The event's id, whose order is the list's, then the webhook's. */
const cursorFields = z.tuple([uuid, uuid]);

/** Rows of a file that are read at a time. */
const FILE_PAGE = 500;

const STATUS_CODE = 'deve ser um status HTTP de 100 a 599';
const statusCode = z
  .string({ error: STATUS_CODE })
  .regex(/^[1-5]\d\d$/, STATUS_CODE)
  .transform(Number)
  .meta({
    type: 'integer',
    minimum: 100,
    maximum: 599,
    text: { pt: 'O ultimo_status_http', en: 'The ultimo_status_http' },
  });

const searchQuery = z.strictObject({
  status: contract.deliveryStatus.optional(),
  evento: contract.deliveredName.optional(),
  emprestimo_id: uuid.optional(),
  resultado: contract.outcome.optional().meta({ text: { pt: 'O ultimo_resultado', en: 'The ultimo_resultado' } }),
  status_http: statusCode.optional(),
  desde: periodStart.optional(),
  ate: periodEnd.optional(),
  cursor,
  limite,
  formato: z
    .enum(['json', 'csv'])
    .optional()
    .meta({ text: { pt: 'csv: todas, num arquivo', en: 'csv: all of them, as a file' } }),
  bom: z
    .enum(['true', 'false'])
    .optional()
    .meta({
      text: {
        pt: 'true: o CSV começa com uma marca de ordem de bytes',
        en: 'true: the CSV begins with a byte-order mark',
      },
    }),
});

const DESCRIPTION = {
  pt: 'Uma página pode trazer menos itens do que o limite, ou nenhum, e ainda ter proximo_cursor: a busca continua onde parou.',
  en: 'A page may bring fewer items than the limit, or none, and still have proximo_cursor: the search goes on where it stopped.',
};

const shared = {
  description: DESCRIPTION,
  isReport: true,
  query: searchQuery,
  answers: {
    200: {
      description: PAGE_ANSWER,
      schema: contract.deliveryPage,
      fileTypes: [csv.mediaType],
      optionalHeaders: {
        'Content-Disposition': { pt: 'Só no CSV: o nome do arquivo', en: "Only for the CSV: the file's name" },
        ...MONTHS_HEADER,
      },
    },
  },
} as const;

export const deliveryListRoutes: Routes = [
  route('GET /v1/webhooks/{id}/entregas', 'webhooks:read', {
    ...shared,
    summary: {
      pt: 'Entregas de um webhook, da mais nova à mais antiga',
      en: 'Deliveries of a webhook, the newest first',
    },
  })(async ({ partnerId, id, query, reading }, deps) => {
    const search = await readSearch(deps.cursors, id, query);
    if ((await readWebhook(deps.pool, partnerId, id)) === null) return NOT_FOUND;
    return answerTo(deps, reading.pool, search, { partnerId, webhookIds: [id] }, query);
  }),
  route('GET /v1/entregas', 'webhooks:read', {
    since: '0.2',
    ...shared,
    summary: {
      pt: 'Entregas de todos os webhooks do parceiro, ativos ou não, da mais nova à mais antiga',
      en: "Deliveries of all the partner's webhooks, active or not, the newest first",
    },
  })(async ({ partnerId, query, reading }, deps) => {
    const search = await readSearch(deps.cursors, partnerId, query);
    const webhookIds = await deps.pool.run((sql) => readWebhookIds(sql, partnerId));
    return answerTo(deps, reading.pool, search, { partnerId, webhookIds }, query);
  }),
];

type Searched = Awaited<ReturnType<typeof readSearch>>;
type Whose = Pick<DeliverySearch, 'partnerId' | 'webhookIds'>;

/** A page of the deliveries that were searched for, or all of them as a file. */
async function answerTo(
  deps: HttpDeps,
  pool: Pool,
  { wanted, write }: Searched,
  whose: Whose,
  query: z.output<typeof searchQuery>,
) {
  const search = { ...wanted, ...whose };
  const months = await monthsAway(deps, wanted.from, wanted.until);
  if (query.formato !== 'csv') {
    return { status: 200, headers: months, body: await write(await readDeliveries(pool, search)) } as const;
  }
  const chunks = fileOf(pool, search, query.bom === 'true');
  const headers = { 'Content-Disposition': 'attachment; filename="entregas.csv"', ...months };
  return { status: 200, headers, body: new BodyStream<typeof csv.mediaType>(csv.contentType, chunks) } as const;
}

/** Page by page, the next only when the client has taken this one: memory stays constant, and no snapshot is held. */
async function* fileOf(pool: Pool, search: DeliverySearch, hasMark: boolean): AsyncGenerator<string> {
  const columns = Object.keys(contract.deliveryPage.shape.itens.element.shape);
  yield `${hasMark ? MARK : ''}${csv.head(columns)}`;
  for (let after: DeliverySearch['after'] = null, isOver = false; !isOver;) {
    const { deliveries, next } = await readDeliveries(pool, { ...search, after, limit: FILE_PAGE });
    yield deliveries.map((delivery) => csv.line(delivery, columns)).join('');
    after = next;
    isOver = next === null;
  }
}

/** The search, and how its page is written. A cursor belongs to one list, `of`, and to one set of filters. */
async function readSearch(cursors: Cursors, of: string, query: z.output<typeof searchQuery>) {
  const { status, evento, emprestimo_id, resultado, status_http, desde, ate } = query;
  const filters = [status, evento, emprestimo_id, resultado, status_http, desde, ate];
  const list = `entregas ${of} ${JSON.stringify(filters)}`;
  const given = await cursors.read(list, cursorFields, query.cursor);
  return {
    wanted: {
      status: status ?? null,
      event: evento ?? null,
      loanId: emprestimo_id ?? null,
      outcome: resultado ?? null,
      statusCode: status_http ?? null,
      from: desde ?? null,
      until: ate ?? null,
      after: given && { eventId: given[0], webhookId: given[1] },
      limit: query.limite,
    },
    write: async ({ deliveries, next }: DeliveryList) => ({
      itens: deliveries,
      proximo_cursor: next && (await cursors.write(list, [next.eventId, next.webhookId])),
    }),
  };
}
