/** The parameters of auditors' lists: the filters of each, its period, and those of its export. */
import { z } from 'zod';
import { CUT } from '../../audit/export/export.ts';
import type { FormatName } from '../../audit/export/formats.ts';
import { KINDS, type KindName } from '../../audit/lists/kinds.ts';
import type { KeyType, Kind } from '../../audit/lists/kind.ts';
import type { Search } from '../../audit/lists/list.ts';
import { TEST_NAME } from '../../contract/delivery.ts';
import { EVENT_TYPES } from '../../contract/events.ts';
import type { Bilingual } from '../../contract/language.ts';
import { EXPORT_FORMATS } from '../../contract/resources/audit-lists.ts';
import { deliveredName } from '../../contract/resources/delivery-resource.ts';
import { DELIVERY_STATUSES, OUTCOMES, SEND_ORDERS } from '../../contract/statuses.ts';
import { id } from '../../contract/values.ts';
import { cursor, limite, periodEnd, periodStart } from '../page.ts';

const anId = id.optional();

const outcome = `(${OUTCOMES.join('|')})`;
/** One, or several with commas between. */
const outcomes = z
  .string()
  .regex(
    new RegExp(`^${outcome}(,${outcome}){0,${OUTCOMES.length - 1}}$`),
    `deve ser, um ou mais, com vírgulas: ${OUTCOMES.join(', ')}`,
  )
  .optional()
  .meta({ examples: ['tempo_esgotado,erro_conexao'] });

export interface List {
  readonly summary: Bilingual;
  /** Each by the column, or the filter, of its kind. */
  readonly filters: Readonly<Record<string, z.ZodType<string | undefined>>>;
  /** The parameter at which the period begins, and the column that it is of; null: no period. */
  readonly period: { readonly from: 'desde' | 'de'; readonly column: string } | null;
}

export const LISTS: Readonly<Record<KindName, List>> = {
  tentativas: {
    summary: {
      pt: 'Tentativas de todos os parceiros, da mais nova à mais antiga; ou tudo, num arquivo',
      en: 'Attempts of all partners, the newest first; or everything, as a file',
    },
    filters: {
      parceiro_id: anId,
      emprestimo_id: anId,
      evento: deliveredName.optional(),
      entrega_id: anId,
      webhook_id: anId,
      resultado: outcomes,
    },
    period: { from: 'desde', column: 'registrada_em' },
  },
  entregas: {
    summary: {
      pt: 'Entregas de todos os parceiros como estão agora, da mais nova à mais antiga',
      en: 'Deliveries of all partners as they are now, the newest first',
    },
    filters: { parceiro_id: anId, webhook_id: anId, evento_id: anId, status: z.enum(DELIVERY_STATUSES).optional() },
    period: { from: 'de', column: 'criada_em' },
  },
  eventos: {
    summary: {
      pt: 'Eventos de todos os parceiros, internos também, do mais novo ao mais antigo; ou tudo, num arquivo',
      en: 'Events of all partners, internal ones too, the newest first; or everything, as a file',
    },
    filters: {
      parceiro_id: anId,
      emprestimo_id: anId,
      evento_id: anId,
      evento: z.enum([...EVENT_TYPES, TEST_NAME]).optional(),
    },
    period: { from: 'de', column: 'id' },
  },
  pedidos: {
    summary: {
      pt: 'Quem pediu reenvios, testes, retomadas e cancelamentos, do mais novo ao mais antigo; ou tudo, num arquivo',
      en: 'Who asked for resends, tests, resumptions and cancellations, the newest first; or everything, as a file',
    },
    filters: { parceiro_id: anId, webhook_id: anId, tipo: z.enum(SEND_ORDERS).optional() },
    period: { from: 'de', column: 'pedido_em' },
  },
  historico: {
    summary: {
      pt: 'Cada estado que um webhook ou um parceiro teve, do mais novo ao mais antigo; ou tudo, num arquivo',
      en: 'Each state that a webhook or a partner had, the newest first; or everything, as a file',
    },
    filters: { parceiro_id: anId, webhook_id: anId, sobre: z.enum(['webhook', 'parceiro']).optional() },
    period: { from: 'de', column: 'mudado_em' },
  },
  leituras: {
    summary: {
      pt: 'Quem leu CPFs, e de quais eventos, da mais nova à mais antiga; ou tudo, num arquivo',
      en: 'Who read CPFs, and of which events, the newest first; or everything, as a file',
    },
    filters: {
      resumo: z
        .string()
        .regex(/^[0-9a-f]{64}$/, 'deve ser o de POST /v1/auditoria/leituras/resumo')
        .optional(),
      evento_id: anId,
    },
    period: { from: 'de', column: 'lida_em' },
  },
  sistema: {
    summary: {
      pt: 'As mudanças do catálogo de eventos e da configuração, da mais nova à mais antiga; ou tudo, num arquivo',
      en: 'The changes of the event catalog and of settings, the newest first; or everything, as a file',
    },
    filters: { sobre: z.enum(['catalogo', 'configuracao']).optional() },
    period: { from: 'de', column: 'mudado_em' },
  },
  verificacoes: {
    summary: {
      pt: 'O que cada conferência do registro e cada balanço disseram, do mais novo ao mais antigo',
      en: 'What each verification of the log and each balance said, the newest first',
    },
    filters: { sobre: z.enum(['verificacao', 'balanco']).optional() },
    period: { from: 'de', column: 'em' },
  },
  selos: {
    summary: {
      pt: 'Os selos do registro, do mais novo ao mais antigo; ou todos, num arquivo',
      en: 'The seals of the log, the newest first; or all, as a file',
    },
    filters: {},
    period: null,
  },
};

/** How the wire writes a value of a key's column. */
const KEY_PATTERNS: Readonly<Record<KeyType, string>> = {
  timestamptz: z.regexes.datetime({ precision: 3 }).source.slice(1, -1),
  uuid: z.regexes.guid.source.slice(1, -1),
  bigint: String.raw`\d{1,18}`,
  int: String.raw`\d{1,9}`,
  text: '[a-z]+',
  boolean: '(true|false)',
};

/** The key of a row as a tuple of texts. */
export function keyFields({ key }: Kind): z.ZodType<string[]> {
  const fields: z.ZodType<string>[] = Object.values(key).map((type) =>
    z.string().regex(new RegExp(`^${KEY_PATTERNS[type]}$`)),
  );
  return z.tuple(fields as [z.ZodType<string>]);
}

/** A row by its key, with commas between. */
function rowField({ key }: Kind) {
  const row = Object.keys(key).join(',');
  const pattern = Object.values(key).map((type) => KEY_PATTERNS[type]);
  const notBefore1970 = (cell: string) => (cell.includes('T') && cell < '1970' ? new Date(0).toISOString() : cell);
  return z
    .string()
    .regex(new RegExp(`^${pattern.join(',')}$`), `deve ser ${row} de uma linha`)
    .transform((text) => text.split(',').map(notBefore1970))
    .meta({ text: { pt: `${row} da última linha inteira`, en: `${row} of the last whole row` } });
}

export interface Asked {
  readonly cursor?: string | undefined;
  readonly limite: number;
  readonly formato?: 'json' | FormatName | undefined;
  readonly bom?: 'true' | 'false' | undefined;
  readonly depois?: string[] | undefined;
  readonly corte?: string | undefined;
}

type Query = z.ZodType<Asked>;
type ManifestQuery = z.ZodType<Asked & { readonly formato: FormatName; readonly corte: string }>;

const bom = z.enum(['true', 'false']).optional();
const corte = z.string().regex(CUT, 'deve ser o do cabeçalho X-Carteiro-Manifesto');

/** The parameters of a list, of its export too where there is one, and those of its manifest. */
export function queriesOf(name: KindName) {
  const { filters, period } = LISTS[name];
  const kind: Kind = KINDS[name];
  const shared = {
    ...filters,
    ...(period && { [period.from]: periodStart.optional(), ate: periodEnd.optional() }),
    cursor,
    limite,
  };
  const depois = rowField(kind).optional();
  const whole = z
    .strictObject({
      ...shared,
      formato: z.enum(['json', ...EXPORT_FORMATS]).optional(),
      bom,
      depois,
      corte: corte.optional(),
    })
    .refine(({ depois: behind, corte: cut }) => (behind === undefined) === (cut === undefined), {
      path: ['corte'],
      error: 'acompanha depois: o do cabeçalho X-Carteiro-Manifesto',
    });
  return {
    list: (kind.cut === undefined ? z.strictObject(shared) : whole) as unknown as Query,
    manifest: z.strictObject({ ...shared, formato: z.enum(EXPORT_FORMATS), bom, corte }) as unknown as ManifestQuery,
  };
}

export function searchOf(name: KindName, asked: object): Search {
  const given = asked as Readonly<Record<string, string | Date | undefined>>;
  const { filters, period } = LISTS[name];
  const named = Object.keys(filters).flatMap((filter) =>
    typeof given[filter] === 'string' ? [[filter, given[filter]]] : [],
  );
  const at = (parameter: string) => (given[parameter] as Date | undefined) ?? null;
  return { filters: Object.fromEntries(named) as Search['filters'], from: at(period?.from ?? ''), until: at('ate') };
}
