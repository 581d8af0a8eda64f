/** `GET /v1/auditoria/tentativas`: a page as JSON, or everything that fits as a file. */
import type { HonoRequest } from 'hono';
import { z } from 'zod';
import { type AttemptFilters, type AttemptCursor, readAttempts } from '../../audit/attempts.ts';
import { signersOf } from '../../audit/checkpoint/note.ts';
import { attemptView } from '../../audit/export/attempt-view.ts';
import { CUT, type Export, exportAttempts, writeManifest } from '../../audit/export/export.ts';
import { FORMAT_NAMES, type FormatName, FORMATS, MEDIA_TYPES, type MediaType } from '../../audit/export/formats.ts';
import { auditedAttemptPage, type ExportManifest, exportManifest } from '../../contract/resources/audit-resource.ts';
import { deliveredName } from '../../contract/resources/delivery-resource.ts';
import { OUTCOMES } from '../../contract/statuses.ts';
import { id } from '../../contract/values.ts';
import { BodyStream, JsonStream } from '../answer.ts';
import { type Cursors, momentField } from '../cursor.ts';
import type { HttpDeps } from '../deps.ts';
import type { AddOperation } from '../operation.ts';
import { cursor, limite, readCursor } from '../page.ts';
import { periodEnd, periodStart } from '../period.ts';

const PATH = '/v1/auditoria/tentativas';
const MANIFEST_PATH = `${PATH}/manifesto`;
const lowerId = id.transform((text) => text.toLowerCase());

const filterFields = {
  parceiro_id: lowerId.optional(),
  emprestimo_id: lowerId.optional(),
  evento: deliveredName.optional(),
  entrega_id: lowerId.optional(),
  webhook_id: lowerId.optional(),
  resultado: z.enum(OUTCOMES).optional(),
  desde: periodStart.optional(),
  ate: periodEnd.optional(),
};

const bom = z.enum(['true', 'false']).optional();
const corte = z.string().regex(CUT, 'deve ser o do cabeçalho X-Carteiro-Manifesto');
/** A row by its own columns: registrada_em, entrega_id, numero, atrasada. */
const ROW = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z,[0-9a-f-]{36},\d{1,9},(true|false)$/;

const query = z
  .strictObject({
    ...filterFields,
    cursor,
    limite,
    formato: z.enum(['json', ...FORMAT_NAMES]).optional(),
    bom,
    depois: z.string().regex(ROW, 'deve ser registrada_em,entrega_id,numero,atrasada de uma linha').optional(),
    corte: corte.optional(),
  })
  .refine(({ depois, corte: cut }) => (depois === undefined) === (cut === undefined), {
    path: ['corte'],
    error: 'acompanha depois: o do cabeçalho X-Carteiro-Manifesto',
  });

const manifestQuery = z.strictObject({
  ...filterFields,
  cursor,
  limite,
  formato: z.enum(FORMAT_NAMES),
  bom,
  corte,
});

function rowOf(text: string): AttemptCursor {
  const [recordedAt = '', deliveryId = '', number = '', late = ''] = text.split(',');
  return { recordedAt: new Date(recordedAt), deliveryId, number: Number(number), late: late === 'true' };
}

type Asked = z.output<z.ZodObject<typeof filterFields>>;

function filtersOf(asked: Asked): AttemptFilters {
  return {
    partnerId: asked.parceiro_id ?? null,
    loanId: asked.emprestimo_id ?? null,
    event: asked.evento ?? null,
    deliveryId: asked.entrega_id ?? null,
    webhookId: asked.webhook_id ?? null,
    outcome: asked.resultado ?? null,
    from: asked.desde ?? null,
    until: asked.ate ?? null,
  };
}

const cursorFields = z
  .tuple([momentField, id, z.string().regex(/^\d{1,9}$/), z.enum(['true', 'false'])])
  .transform(([recordedAt, deliveryId, number, late]): AttemptCursor => {
    return { recordedAt, deliveryId, number: Number(number), late: late === 'true' };
  });

type Begun = Pick<Export, 'format' | 'filters' | 'seesCpf' | 'asked'> &
  Pick<z.output<typeof query>, 'bom' | 'depois' | 'corte'>;

function startExport({ pool, checkpointKeys }: HttpDeps, { bom: mark, depois, corte: cut, ...asked }: Begun) {
  const goOn = depois === undefined || cut === undefined ? null : { after: rowOf(depois), cut };
  const { format, filters, seesCpf } = asked;
  const more = { hasMark: mark === 'true', signers: signersOf(checkpointKeys), goOn };
  return exportAttempts(pool, { format, filters, seesCpf, asked: asked.asked, ...more }, MANIFEST_PATH);
}

export function addAuditAttemptRoutes(add: AddOperation, deps: HttpDeps): void {
  add(
    {
      method: 'get',
      path: PATH,
      summary: {
        pt: 'Tentativas de todos os parceiros, da mais nova à mais antiga; ou tudo, num arquivo',
        en: 'Attempts of all partners, the newest first; or everything, as a file',
      },
      description: {
        pt:
          'desde e ate filtram registrada_em. Uma página pode trazer menos itens do que o limite, ou nenhum, e ainda ter ' +
          'proximo_cursor. Com outro formato (ou Accept) que json vem tudo, da mais antiga à mais nova. O manifesto traz a ' +
          'contagem, o SHA-256 dos bytes anteriores e o checkpoint mais novo: é a última linha do NDJSON; os outros formatos só têm as ' +
          'tentativas, e o seu manifesto está no caminho do cabeçalho X-Carteiro-Manifesto. CPFs e consultas (query) de URLs vêm ' +
          'mascarados sem o escopo auditoria:cpf. bom=true começa o CSV com a marca de ordem de bytes. Depois de um corte da conexão, ' +
          'depois (registrada_em,entrega_id,numero,atrasada da última linha inteira) e corte continuam o arquivo sem cabeçalho: as duas ' +
          'partes juntas são o arquivo do manifesto, que as chaves dos checkpoints assinam.',
        en: 'desde and ate filter registrada_em. A page may bring fewer items than the limit, or none, and still have proximo_cursor. With another formato (or Accept) than json everything comes, the oldest first. The manifest holds the count, the SHA-256 of the bytes before it and the newest checkpoint: it is the last line of the NDJSON; the other formats have the attempts alone, and their manifest is at the path of the header X-Carteiro-Manifesto. CPFs and query strings of URLs are masked without the scope auditoria:cpf. bom=true begins a CSV with a byte-order mark. After a cut of the connection, depois (registrada_em,entrega_id,numero,atrasada of the last whole row) and corte go on with the file without its head: both parts together are the file of the manifest, which the keys of checkpoints sign.',
      },
      scope: 'auditoria:read',
      query,
      answers: {
        200: {
          description: { pt: 'Uma página, e o cursor da próxima', en: 'A page, and the cursor of the next' },
          schema: auditedAttemptPage,
          fileTypes: MEDIA_TYPES,
          optionalHeaders: {
            'Content-Disposition': {
              pt: 'Só na exportação: o nome do arquivo a gravar',
              en: 'Only for the export: the name of the file to save',
            },
            'X-Carteiro-Manifesto': {
              pt: 'Só na exportação: o caminho do seu manifesto',
              en: 'Only for the export: the path of its manifest',
            },
          },
        },
      },
    },
    async ({ query: asked, seesCpf }, request) => {
      const { pool, cursors } = deps;
      const filters = filtersOf(asked);
      const format = asked.formato ?? acceptedFormat(request);
      if (format !== 'json') {
        const begun = await startExport(deps, { ...asked, format, filters, seesCpf, asked: request.query() });
        if ('refused' in begun) return begun;
        const { contentType, chunks, headers } = begun.ok;
        return { status: 200, headers, body: new BodyStream<MediaType>(contentType, chunks) };
      }

      const list = `${PATH} ${JSON.stringify(filters)}`;
      const after = await readCursor(cursors, list, cursorFields, asked.cursor);
      if ('refused' in after) return after;
      const page = {
        ...filters,
        after: after.ok,
        limit: asked.limite,
        order: 'newest first',
        settledBelow: null,
      } as const;
      const { attempts, next } = await readAttempts(pool, page);
      const itens = attempts.map((attempt) => attemptView(attempt, seesCpf));
      const proximo_cursor = next && (await writeCursor(cursors, list, next));
      return { status: 200, body: { itens, proximo_cursor } };
    },
  );
}

export function addAuditManifestRoutes(add: AddOperation, { pool, checkpointKeys }: HttpDeps): void {
  add(
    {
      method: 'get',
      path: MANIFEST_PATH,
      summary: {
        pt: 'O manifesto de uma exportação: quantas linhas tem, e o SHA-256 dos seus bytes',
        en: 'The manifest of an export: how many rows it has, and the SHA-256 of its bytes',
      },
      description: {
        pt:
          'O caminho, com corte, vem no cabeçalho X-Carteiro-Manifesto da exportação; as mesmas linhas são lidas outra vez. ' +
          'Compare sha256 com o do arquivo (no NDJSON, sem a última linha).',
        en: 'The path, with corte, comes in the header X-Carteiro-Manifesto of the export; the same rows are read again. Compare sha256 with that of the file (of NDJSON, without its last line).',
      },
      scope: 'auditoria:read',
      query: manifestQuery,
      answers: { 200: { description: { pt: 'O manifesto', en: 'The manifest' }, schema: exportManifest } },
    },
    async ({ query: asked, seesCpf }, request) => {
      const { corte: _, ...rest } = request.query();
      const more = { hasMark: asked.bom === 'true', signers: signersOf(checkpointKeys) };
      const found = { format: asked.formato, filters: filtersOf(asked), seesCpf, asked: rest, ...more };
      const manifest = await writeManifest(pool, found, asked.corte);
      if ('refused' in manifest) return manifest;
      return { status: 200, body: new JsonStream<ExportManifest>(manifest.ok) };
    },
  );
}

/** The format that `Accept` names; JSON where it names none of the others. */
function acceptedFormat(request: HonoRequest): 'json' | FormatName {
  const accept = request.header('Accept') ?? '';
  return FORMAT_NAMES.find((name) => accept.includes(FORMATS[name].mediaType)) ?? 'json';
}

function writeCursor(cursors: Cursors, list: string, { recordedAt, deliveryId, number, late }: AttemptCursor) {
  return cursors.write(list, [recordedAt.toISOString(), deliveryId, String(number), String(late)]);
}
