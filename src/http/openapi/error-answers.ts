/** How each refusal is described: when it comes, an example of it, and the headers that come with it. */
import { MAX_UNDER_WAY } from '../auth/rate-limit.ts';
import { ERROR_STATUS, errorBody, type ErrorBody, type ErrorCode } from '../../contract/errors.ts';
import { type Bilingual, both } from '../../contract/language.ts';
import type { Json, Schemas } from './schemas.ts';
import { paragraphs } from './texts.ts';

/** When each code is answered, as the description and the pages say it; without a full stop. */
export const WHEN_REFUSED: Readonly<Record<ErrorCode, Bilingual>> = {
  ERRO_VALIDACAO: {
    pt: 'JSON malformado, campo errado ou desconhecido, parâmetro ou cabeçalho inválido',
    en: 'malformed JSON, a wrong or unknown field, an invalid parameter or header',
  },
  CREDENCIAL_INVALIDA: {
    pt: 'token ausente, malformado, expirado ou inválido, ou parceiro desconhecido ou inativo',
    en: 'the token is missing, malformed, expired or invalid, or its partner is unknown or inactive',
  },
  ESCOPO_INSUFICIENTE: { pt: 'o token é válido, mas não tem o escopo', en: 'the token is valid, but lacks the scope' },
  NAO_ENCONTRADO: {
    pt: 'o recurso não existe, ou pertence a outro parceiro',
    en: 'there is no such resource, or it belongs to another partner',
  },
  METODO_NAO_PERMITIDO: { pt: 'o caminho existe com outro método', en: 'the path exists with another method' },
  TRANSICAO_INVALIDA: {
    pt: 'o estado do recurso não permite o comando',
    en: "the resource's state does not allow the command",
  },
  CURSOR_ADIANTE: {
    pt: 'o banco de dados voltou a um momento anterior ao do cursor; o detalhe `depois` traz o cursor por onde continuar',
    en: "the database went back to a moment before the cursor's; the detail `depois` brings the cursor to go on from",
  },
  IDEMPOTENCIA_EM_ANDAMENTO: {
    pt: 'a requisição com a mesma Idempotency-Key ainda está em andamento',
    en: 'the request with the same Idempotency-Key is still under way',
  },
  LIMITE_DE_WEBHOOKS: {
    pt: 'o parceiro já tem o máximo de webhooks ativos',
    en: 'the partner has as many active webhooks as it may',
  },
  CORPO_MUITO_GRANDE: { pt: 'o corpo passa do tamanho máximo', en: 'the body is larger than it may be' },
  TIPO_NAO_SUPORTADO: { pt: 'o corpo não é application/json', en: 'the body is not application/json' },
  HOST_NAO_ATENDIDO: {
    pt: 'a requisição veio por um nome pelo qual o serviço não atende',
    en: 'the request came by a name that the service does not answer to',
  },
  IDEMPOTENCIA_DIVERGENTE: {
    pt: 'a mesma Idempotency-Key já foi usada com outro corpo',
    en: 'the same Idempotency-Key was used with another body',
  },
  MARGEM_NEGOCIAL: { pt: 'o registry recusou a consulta de margem', en: 'the registry refused the margin query' },
  LIMITE_DE_REQUISICOES: {
    pt: `o parceiro passou do seu limite de requisições por minuto, ou tem ${MAX_UNDER_WAY} sem resposta lida`,
    en: `the partner sent more requests a minute than it may, or has ${MAX_UNDER_WAY} whose answers it has not read`,
  },
  ERRO_INTERNO: {
    pt: 'uma falha do serviço; nenhum detalhe é mostrado',
    en: 'a fault of the service; no detail is shown',
  },
  MARGEM_UPSTREAM: { pt: 'a consulta ao registry falhou', en: 'the query to the registry failed' },
  INDISPONIVEL: {
    pt:
      'o banco de dados ou as chaves dos tokens estão fora de alcance, ou um corpo grande não teve a sua vez em 30 s; ' +
      'tente de novo',
    en: "the database or the tokens' keys are out of reach, or a large body had no turn within 30 s; try again",
  },
};

const REQUEST_ID = '019a6e0b-7f3c-7d52-9a41-5c1d2e3f4a5b';

const HEADERS_OF: Readonly<Partial<Record<ErrorCode, readonly string[]>>> = {
  CREDENCIAL_INVALIDA: ['WWW-Authenticate'],
  ESCOPO_INSUFICIENTE: ['WWW-Authenticate'],
  IDEMPOTENCIA_EM_ANDAMENTO: ['Retry-After'],
  LIMITE_DE_REQUISICOES: ['Retry-After'],
  INDISPONIVEL: ['Retry-After'],
};

/** Every header that an answer may bear, as `components.headers`: an answer that refers to one always has it. */
export const ANSWER_HEADERS: Json = {
  'X-Request-Id': header(
    { pt: 'O id desta requisição, o mesmo de requisicao_id', en: 'The id of this request, the same as requisicao_id' },
    { type: 'string', format: 'uuid' },
  ),
  'WWW-Authenticate': header(
    { pt: 'O que falta ao token (RFC 6750)', en: 'What the token lacks (RFC 6750)' },
    { type: 'string' },
  ),
  'Retry-After': header(
    { pt: 'Segundos até valer a pena tentar de novo', en: 'Seconds until it is worth trying again' },
    { type: 'integer', minimum: 1 },
  ),
};

function header(description: Bilingual, schema: Json): Json {
  return { description, required: true, schema };
}

/** The headers of every answer, by reference. */
export function sharedHeaders(): Json {
  return { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } };
}

/** The headers of a refusal. A header of only some of the codes is written in place, as not required. */
function refusalHeaders(codes: readonly ErrorCode[]): Json {
  const named = new Set(codes.flatMap((code) => HEADERS_OF[code] ?? []));
  const headers = [...named].map((name) => {
    const isAlways = codes.every((code) => HEADERS_OF[code]?.includes(name));
    const inPlace = { ...(ANSWER_HEADERS[name] as Json), required: false };
    return [name, isAlways ? { $ref: `#/components/headers/${name}` } : inPlace];
  });
  return { ...sharedHeaders(), ...Object.fromEntries(headers) };
}

export type ErrorAnswers = ReturnType<typeof createErrorAnswers>;

/** A status with one code is a component; one that several codes share is written in place, each code with its example. */
export function createErrorAnswers(schemas: Schemas) {
  const met = new Set<ErrorCode>();
  const alone = new Map<ErrorCode, Json>();
  const errorSchema = schemas.of(errorBody, 'output');

  function answer(codes: readonly ErrorCode[]): Json {
    for (const code of codes) met.add(code);
    const narrowed = { type: 'object', properties: { codigo: { enum: codes } }, required: ['codigo'] };
    return {
      description: both((language) =>
        paragraphs(...codes.map((code) => `\`${code}\`: ${WHEN_REFUSED[code][language]}.`)),
      ),
      headers: refusalHeaders(codes),
      content: {
        'application/json': {
          schema: { allOf: [errorSchema, narrowed] },
          examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
        },
      },
    };
  }

  function answerAlone(code: ErrorCode): Json {
    if (!alone.has(code)) alone.set(code, answer([code]));
    return { $ref: `#/components/responses/${code}` };
  }

  return {
    /** The answers of an operation that may refuse with `codes`, by status. */
    of(codes: readonly ErrorCode[]): Json {
      const byStatus = Map.groupBy(new Set(codes), (code) => ERROR_STATUS[code]);
      const answers = [...byStatus].map(([status, [first, ...more]]) => [
        status,
        more.length === 0 ? answerAlone(first as ErrorCode) : answer([first as ErrorCode, ...more]),
      ]);
      return Object.fromEntries(answers);
    },
    responses: (): Json => Object.fromEntries(alone),
    examples: (): Json => Object.fromEntries([...met].toSorted().map((code) => [code, exampleOf(code)])),
  };
}

function exampleOf(code: ErrorCode): Json {
  const value: ErrorBody = {
    codigo: code,
    mensagem: WHEN_REFUSED[code].pt,
    ...(code === 'ERRO_VALIDACAO' && { detalhes: [{ campo: 'eventos[1]', mensagem: 'nome de evento desconhecido' }] }),
    requisicao_id: REQUEST_ID,
  };
  return { summary: WHEN_REFUSED[code], value };
}
