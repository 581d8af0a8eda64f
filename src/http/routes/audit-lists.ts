/** What auditors list, over all partners: a page as JSON, or everything that fits as a file with a signed manifest. */
import type { HonoRequest } from 'hono';
import { z } from 'zod';
import { signersOf } from '../../audit/checkpoint/note.ts';
import { type Export, type ExportedKind, exportRows, writeManifest } from '../../audit/export/export.ts';
import { type FormatName, FORMATS, MEDIA_TYPES, type MediaType } from '../../audit/export/formats.ts';
import { KINDS, type KindName } from '../../audit/lists/kinds.ts';
import type { Kind } from '../../audit/lists/kind.ts';
import type { Row, Search } from '../../audit/lists/list.ts';
import { readWithRemoved } from '../../audit/lists/removed.ts';
import { type Bilingual, both } from '../../contract/language.ts';
import { EXPORT_FORMATS } from '../../contract/resources/audit-lists.ts';
import { type ExportManifest, exportManifest } from '../../contract/resources/audit-resource.ts';
import { monthsWithin } from '../../archive/acts.ts';
import { FEED_START } from '../../log/feed.ts';
import { answered, BodyStream, JsonStream } from '../answer.ts';
import type { HttpDeps } from '../deps.ts';
import type { Route } from '../operation.ts';
import { route, type Routes } from '../route.ts';
import { PAGE_ANSWER } from '../page.ts';
import { headerOf, MONTHS_HEADER } from './archived-months.ts';
import { type Asked, keyFields, type List, LISTS, queriesOf, searchOf } from './audit-list-queries.ts';

/** Only where the list is read on a standby. */
const lag = z
  .number()
  .optional()
  .meta({
    text: {
      pt: 'Só numa leitura da réplica: quantos segundos está atrás',
      en: 'Only of a read from the standby: how many seconds it is behind',
    },
  });

const page = (kind: Kind) =>
  z.strictObject({
    itens: z.array(kind.schema),
    proximo_cursor: z.string().nullable(),
    atraso_s: lag,
  }) as unknown as z.ZodType<{
    itens: Row[];
    proximo_cursor: string | null;
    atraso_s?: number | undefined;
  }>;

function describe(kind: Kind, { period }: List): Bilingual {
  const column =
    period?.column === 'id'
      ? { pt: 'a gravação', en: 'the time of writing' }
      : { pt: period?.column, en: period?.column };
  const ofPeriod = period && {
    pt: `${period.from} e ate filtram ${column.pt}.`,
    en: `${period.from} and ate filter ${column.en}.`,
  };
  const ofMasks = kind.masked.length > 0 && {
    pt: 'CPFs e consultas (query) de URLs vêm mascarados sem o escopo auditoria:cpf.',
    en: 'CPFs and query strings of URLs are masked without the scope auditoria:cpf.',
  };
  const texts = [ofPeriod, SHORT_PAGES, ofMasks, kind.cut !== undefined && OF_EXPORT];
  return both((language) => texts.flatMap((text) => (text ? [text[language]] : [])).join(' '));
}

const SHORT_PAGES = {
  pt: 'Uma página pode trazer menos itens do que o limite, ou nenhum, e ainda ter proximo_cursor.',
  en: 'A page may bring fewer items than the limit, or none, and still have proximo_cursor.',
};
const OF_EXPORT = {
  pt:
    'Com outro formato (ou Accept) que json vem tudo, na ordem contrária. O manifesto traz a contagem, o SHA-256 dos bytes anteriores ' +
    'e o checkpoint mais novo: é a última linha do NDJSON; o CSV só tem as linhas, e o seu manifesto está no caminho do cabeçalho ' +
    'X-Carteiro-Manifesto. bom=true começa o CSV com a marca de ordem de bytes. Depois de um corte da conexão, depois e corte continuam ' +
    'o arquivo sem cabeçalho: as duas partes juntas são o arquivo do manifesto, que as chaves dos checkpoints assinam.',
  en: 'With another formato (or Accept) than json everything comes, in the other order. The manifest holds the count, the SHA-256 of the bytes before it and the newest checkpoint: it is the last line of the NDJSON; the CSV has the rows alone, and its manifest is at the path of the header X-Carteiro-Manifesto. bom=true begins a CSV with a byte-order mark. After a cut of the connection, depois and corte go on with the file without its head: both parts together are the file of the manifest, which the keys of checkpoints sign.',
};

const FILE_HEADERS = {
  'Content-Disposition': {
    pt: 'Só na exportação: o nome do arquivo a gravar',
    en: 'Only for the export: the name of the file to save',
  },
  'X-Carteiro-Manifesto': {
    pt: 'Só na exportação: o caminho do seu manifesto',
    en: 'Only for the export: the path of its manifest',
  },
};

export const auditListRoutes: Routes = (Object.keys(LISTS) as KindName[]).flatMap((name) => {
  const kind: Kind = KINDS[name];
  return isExported(kind) ? [list(name, kind), manifest(name, kind)] : [list(name, kind)];
});

function list(name: KindName, kind: Kind): Route {
  const path = `/v1/auditoria/${name}` as const;
  const fields = keyFields(kind);
  const ok = {
    description: PAGE_ANSWER,
    schema: page(kind),
    optionalHeaders: { ...(isExported(kind) && FILE_HEADERS), ...(name === 'eventos' && MONTHS_HEADER) },
  };
  return route(`GET ${path}`, 'auditoria:read', {
    summary: LISTS[name].summary,
    description: describe(kind, LISTS[name]),
    isReport: true,
    query: queriesOf(name).list,
    answers: { 200: isExported(kind) ? { ...ok, fileTypes: MEDIA_TYPES } : ok },
  })(async ({ query, seesCpf, reading: { pool, lagS } }, deps, request) => {
    const format = query.formato ?? acceptedFormat(request);
    const search = searchOf(name, query);
    const months = name === 'eventos' ? await eventsAway(deps, search) : {};
    if (isExported(kind) && format !== 'json') {
      const wanted: Export = { ...exportOf(deps, name, kind, query, request), format, seesCpf };
      const begun = await exportRows(pool, wanted, `${path}/manifesto`);
      if ('refused' in begun) return begun;
      const { contentType, chunks, headers } = begun.ok;
      return { status: 200, headers: { ...headers, ...months }, body: new BodyStream<MediaType>(contentType, chunks) };
    }
    const listed = `${path} ${JSON.stringify(search)}`;
    const after = await deps.cursors.read(listed, fields, query.cursor);
    const wanted = { ...search, after, limit: query.limite, order: 'newest first', cut: null } as const;
    const { rows, next } = await readWithRemoved(pool, kind, wanted, seesCpf, deps.archives);
    const proximo_cursor = next && (await deps.cursors.write(listed, next));
    const body = { itens: rows, proximo_cursor, ...(lagS !== null && { atraso_s: lagS }) };
    return { status: 200, headers: months, body };
  });
}

function manifest(name: KindName, kind: ExportedKind): Route {
  return route(`GET /v1/auditoria/${name}/manifesto`, 'auditoria:read', {
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
    isReport: true,
    query: queriesOf(name).manifest,
    answers: answered(200, exportManifest, { pt: 'O manifesto', en: 'The manifest' }),
  })(async ({ query, seesCpf, reading: { pool } }, deps, request) => {
    const wanted: Export = { ...exportOf(deps, name, kind, query, request), format: query.formato, seesCpf };
    const written = await writeManifest(pool, wanted, query.corte);
    if ('refused' in written) return written;
    return { status: 200, body: new JsonStream<ExportManifest>(written.ok) };
  });
}

/** A query for one loan restores its archived history; a list by time names the months whose files have more. */
async function eventsAway({ archives }: HttpDeps, { filters, from, until }: Search) {
  const { evento_id: event, emprestimo_id: loan } = filters;
  if (event !== undefined) await archives?.bringBack('id', event);
  if (loan !== undefined) await archives?.bringBack('stream', loan);
  const isNamed = event !== undefined || loan !== undefined;
  const left = isNamed ? undefined : await archives?.leftAfter(FEED_START);
  return headerOf(monthsWithin(left ?? [], from, until));
}

function isExported(kind: Kind): kind is ExportedKind {
  return kind.cut !== undefined;
}

/** What is exported of a kind, as it was asked for. */
function exportOf(
  { checkpointKeys, archives }: HttpDeps,
  name: KindName,
  kind: ExportedKind,
  query: Asked,
  request: HonoRequest,
) {
  const { corte: cut, ...asked } = request.query();
  const goOn = query.depois === undefined || cut === undefined ? null : { after: query.depois, cut };
  const more = { hasMark: query.bom === 'true', signers: signersOf(checkpointKeys), goOn, removed: archives };
  return { kind, name, ...searchOf(name, query), asked, ...more };
}

/** The format that `Accept` names; JSON where it names none of the others. */
function acceptedFormat(request: HonoRequest): 'json' | FormatName {
  const accept = request.header('Accept') ?? '';
  return EXPORT_FORMATS.find((name) => accept.includes(FORMATS[name].mediaType)) ?? 'json';
}
