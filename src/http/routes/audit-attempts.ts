/** `GET /v1/auditoria/tentativas`: a page as JSON, or everything that fits as NDJSON or CSV. */
import type { Context } from 'hono';
import { z } from 'zod';
import { type AttemptFilters, type AttemptPlace, readAttempts } from '../../audit/attempts.ts';
import { auditedAttemptPage, EXPORT_FORMATS } from '../../contract/audit-resource.ts';
import { deliveredName } from '../../contract/delivery-resource.ts';
import { OUTCOMES } from '../../contract/statuses.ts';
import { id, timestamp } from '../../contract/values.ts';
import { attemptView } from '../audit/attempt-view.ts';
import { exportAttempts, FORMATS } from '../audit/export.ts';
import { readPlace, writePlace } from '../cursor.ts';
import type { HttpDeps } from '../deps.ts';
import type { AddOperation } from '../operation.ts';
import { badCursor, cursor, limite } from '../page.ts';
import { periodEnd, periodStart } from '../period.ts';

const PATH = '/v1/auditoria/tentativas';
const lowerId = id.transform((text) => text.toLowerCase());

const query = z.strictObject({
  parceiro_id: lowerId.optional(),
  emprestimo_id: lowerId.optional(),
  evento: deliveredName.optional(),
  entrega_id: lowerId.optional(),
  webhook_id: lowerId.optional(),
  resultado: z.enum(OUTCOMES).optional(),
  desde: periodStart.optional(),
  ate: periodEnd.optional(),
  cursor,
  limite,
  formato: z.enum(EXPORT_FORMATS).optional(),
});

const placeFields = z.tuple([timestamp, id, z.string().regex(/^\d{1,9}$/), z.enum(['true', 'false'])]);

export function addAuditAttemptRoutes(add: AddOperation, { pool }: HttpDeps): void {
  add(
    {
      method: 'get',
      path: PATH,
      summary: 'Tentativas de todos os parceiros, da mais nova à mais antiga; ou tudo, como NDJSON ou CSV',
      description:
        'desde e ate filtram registrada_em. Uma página pode trazer menos itens do que o limite, ou nenhum, e ainda ter ' +
        'proximo_cursor. Com formato (ou Accept) ndjson ou csv vem tudo, da mais antiga à mais nova; a última linha é o ' +
        'manifesto, com a contagem, o SHA-256 dos bytes anteriores e o selo mais novo. Sem manifesto, não está inteiro.',
      scope: 'auditoria:read',
      query,
      answers: {
        200: {
          description: 'Uma página, e o cursor da próxima',
          schema: auditedAttemptPage,
          textTypes: ['application/x-ndjson', 'text/csv'],
          optionalHeaders: { 'Content-Disposition': 'Só na exportação: o nome do arquivo a gravar' },
        },
      },
    },
    async ({ query: asked }, c) => {
      const filters: AttemptFilters = {
        partnerId: asked.parceiro_id ?? null,
        loanId: asked.emprestimo_id ?? null,
        event: asked.evento ?? null,
        deliveryId: asked.entrega_id ?? null,
        webhookId: asked.webhook_id ?? null,
        outcome: asked.resultado ?? null,
        from: asked.desde ?? null,
        until: asked.ate ?? null,
      };
      const format = asked.formato ?? acceptedFormat(c);
      if (format !== 'json') return exportAttempts(pool, { format, filters, asked: c.req.query() });

      const list = `${PATH} ${JSON.stringify(filters)}`;
      const after = asked.cursor === undefined ? null : readAttemptPlace(list, asked.cursor);
      const page = { ...filters, after, limit: asked.limite, order: 'newest first', settledBelow: null } as const;
      const { attempts, next } = await readAttempts(pool, page);
      return c.json({ itens: attempts.map(attemptView), proximo_cursor: next && writeAttemptPlace(list, next) }, 200);
    },
  );
}

/** The format that `Accept` names; JSON where it names none of the others. */
function acceptedFormat(c: Context): (typeof EXPORT_FORMATS)[number] {
  const accept = c.req.header('Accept') ?? '';
  const formats = Object.entries(FORMATS) as ['ndjson' | 'csv', { contentType: string }][];
  const named = formats.find(([, { contentType }]) => accept.includes(contentType.split(';')[0] ?? ''));
  return named?.[0] ?? 'json';
}

function writeAttemptPlace(list: string, { recordedAt, deliveryId, number, late }: AttemptPlace): string {
  return writePlace(list, [recordedAt.toISOString(), deliveryId, String(number), String(late)]);
}

function readAttemptPlace(list: string, text: string): AttemptPlace {
  const parsed = placeFields.safeParse(readPlace(list, text));
  if (!parsed.success) throw badCursor();
  const [recordedAt, deliveryId, number, late] = parsed.data;
  return { recordedAt: new Date(recordedAt), deliveryId, number: Number(number), late: late === 'true' };
}
