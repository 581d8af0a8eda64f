/** How each refusal is described: when it comes, an example of it, and the headers that come with it. */
import { ERROR_STATUS, errorBody, type ErrorBody, type ErrorCode } from '../../contract/errors.ts';
import type { Json, Schemas } from './schemas.ts';

export const WHEN: Readonly<Record<ErrorCode, string>> = {
  ERRO_VALIDACAO: 'JSON malformado, campo errado ou desconhecido, parâmetro ou cabeçalho inválido',
  CREDENCIAL_INVALIDA: 'token ausente, malformado, expirado ou inválido, ou parceiro desconhecido ou inativo',
  ESCOPO_INSUFICIENTE: 'o token é válido, mas não tem o escopo',
  NAO_ENCONTRADO: 'o recurso não existe, ou pertence a outro parceiro',
  METODO_NAO_PERMITIDO: 'o caminho existe com outro método',
  TRANSICAO_INVALIDA: 'o estado do recurso não permite o comando',
  CURSOR_ADIANTE:
    'o banco de dados voltou a um momento anterior ao do cursor; o detalhe `depois` traz o cursor por onde continuar',
  IDEMPOTENCIA_EM_ANDAMENTO: 'a requisição com a mesma Idempotency-Key ainda está em andamento',
  LIMITE_DE_WEBHOOKS: 'o parceiro já tem o máximo de webhooks ativos',
  CORPO_MUITO_GRANDE: 'o corpo passa do tamanho máximo',
  TIPO_NAO_SUPORTADO: 'o corpo não é application/json',
  IDEMPOTENCIA_DIVERGENTE: 'a mesma Idempotency-Key já foi usada com outro corpo',
  MARGEM_NEGOCIAL: 'o registry recusou a consulta de margem',
  LIMITE_DE_REQUISICOES: 'o parceiro passou do seu limite de requisições por minuto',
  ERRO_INTERNO: 'uma falha do serviço; nenhum detalhe é mostrado',
  MARGEM_UPSTREAM: 'a consulta ao registry falhou',
  INDISPONIVEL:
    'o banco de dados ou as chaves dos tokens estão fora de alcance, ou um corpo grande não teve a sua vez em 30 s; ' +
    'tente de novo',
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
  'X-Request-Id': header('O id desta requisição, o mesmo de requisicao_id', text('uuid')),
  'WWW-Authenticate': header('O que falta ao token (RFC 6750)', text()),
  'Retry-After': header('Segundos até valer a pena tentar de novo', { type: 'integer', minimum: 1 }),
};

function header(description: string, schema: Json): Json {
  return { description, required: true, schema };
}

function text(format?: string): Json {
  return { type: 'string', ...(format !== undefined && { format }) };
}

/** The headers of every answer, by reference. */
export function sharedHeaders(): Json {
  return { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } };
}

/** The headers of a refusal; one that comes with some of its codes only is written in place, as not required. */
function refusalHeaders(codes: readonly ErrorCode[]): Json {
  const named = new Set(codes.flatMap((code) => HEADERS_OF[code] ?? []));
  const headers = [...named].map((name) => {
    const isAlways = codes.every((code) => HEADERS_OF[code]?.includes(name));
    const inPlace = { ...(ANSWER_HEADERS[name] as Json), required: false };
    return [name, isAlways ? { $ref: `#/components/headers/${name}` } : inPlace];
  });
  return { ...sharedHeaders(), ...Object.fromEntries(headers) };
}

export interface ErrorAnswers {
  /** The answers of an operation that may refuse with `codes`, by status. */
  of(codes: readonly ErrorCode[]): Json;
  responses(): Json;
  examples(): Json;
}

/** A status with one code is a component; one that several codes share is written in place, each code with its example. */
export function createErrorAnswers(schemas: Schemas): ErrorAnswers {
  const met = new Set<ErrorCode>();
  const alone = new Map<ErrorCode, Json>();
  const errorSchema = schemas.of(errorBody, 'output');

  function answer(codes: readonly ErrorCode[]): Json {
    for (const code of codes) met.add(code);
    const narrowed = { type: 'object', properties: { codigo: { enum: codes } }, required: ['codigo'] };
    return {
      description: codes.map((code) => `\`${code}\`: ${WHEN[code]}.`).join('\n\n'),
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
    of(codes) {
      const byStatus = Map.groupBy(new Set(codes), (code) => ERROR_STATUS[code]);
      const answers = [...byStatus].map(([status, [first, ...more]]) => [
        status,
        more.length === 0 ? answerAlone(first as ErrorCode) : answer([first as ErrorCode, ...more]),
      ]);
      return Object.fromEntries(answers);
    },
    responses: () => Object.fromEntries(alone),
    examples: () => Object.fromEntries([...met].toSorted().map((code) => [code, exampleOf(code)])),
  };
}

function exampleOf(code: ErrorCode): Json {
  const value: ErrorBody = {
    codigo: code,
    mensagem: WHEN[code],
    ...(code === 'ERRO_VALIDACAO' && { detalhes: [{ campo: 'eventos[1]', mensagem: 'nome de evento desconhecido' }] }),
    requisicao_id: REQUEST_ID,
  };
  return { summary: WHEN[code], value };
}
