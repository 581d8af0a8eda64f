/** The interface of a lender's bridge to the registry as an OpenAPI 3.1 document. We are its client; the lender serves it. */
import type { z } from 'zod';
import { type Bilingual, inLanguage, type Language } from '../../contract/language.ts';
import {
  bondQuery,
  endedPage,
  errorTold,
  marginAsked,
  marginTold,
  registrationAsked,
  registrationTold,
  rehiredPage,
  RETRY_AFTER_S,
} from '../../contract/registry-wire.ts';
import { createSchemas, type Json, type Schemas } from './schemas.ts';

const INTRODUCTION: Bilingual = {
  pt: `O Carteiro pergunta; o serviço do credor responde e fala com o registry de verdade. HTTP/1.1, JSON em UTF-8. Dinheiro é
número em reais com no máximo duas casas decimais. Instantes são ISO 8601 em UTC, datas AAAA-MM-DD.

- O mesmo \`averbacao_id\` tem sempre a mesma resposta e um só efeito.
- \`referencia\` é a mesma em todas as respostas e pertence a um só empréstimo. Janelas de tempo são pedidas de novo e se sobrepõem.
- Uma resposta de mais de 256 KiB, que não é JSON ou tem outra forma é uma falha do registry, seja qual for o seu status. Campos a mais são ignorados. Nenhum redirecionamento é seguido.
- Depois de cinco falhas seguidas nada é pedido por 30 s; então vem \`GET /saude\`.`,
  en: `Carteiro asks; the lender's service answers and speaks to the real registry. HTTP/1.1, JSON in UTF-8. Money is a number in
reais with at most two decimals. Instants are ISO 8601 in UTC, dates YYYY-MM-DD.

- The same \`averbacao_id\` always gets the same answer and has one effect.
- \`referencia\` is the same in every answer and belongs to one loan. Windows of time are asked again and overlap.
- An answer of more than 256 KiB, not JSON or of another shape is a failure of the registry, whatever its status. Further fields are ignored. No redirect is followed.
- After five failures in a row nothing is asked for 30 s; then comes \`GET /saude\`.`,
};

const REFUSED = said(
  'Recusada por uma razão de negócio; `erro` é mostrado ao parceiro, até 500 caracteres',
  'Refused for a reason of business; `erro` is shown to the partner, up to 500 characters',
);
const RETRY_AFTER = {
  description: said('Em quantos segundos perguntar de novo', 'In how many seconds to ask again'),
  schema: {
    type: 'integer',
    minimum: RETRY_AFTER_S.least,
    maximum: RETRY_AFTER_S.most,
    default: RETRY_AFTER_S.default,
  },
};
const header = (name: string, description: Bilingual, required = false): Json => ({
  name,
  in: 'header',
  description,
  required,
  schema: { type: 'string' },
});
const COMMON = [
  header('X-Request-Id', said('A requisição que causou a chamada', 'The request that caused the call'), true),
  header(
    'traceparent',
    said('O trace da requisição (W3C), quando há um', "The request's trace (W3C), where there is one"),
  ),
];

/** In one language. */
export function describeRegistry(language: Language): Json {
  const schemas = createSchemas();
  const document = {
    openapi: '3.1.0',
    info: {
      title: said('Ponte para o registry', 'Bridge to the registry'),
      version: '1',
      description: INTRODUCTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'REGISTRY_URL' }],
    security: [{ token: [] }],
    paths: { ...margins(schemas), ...registrations(schemas), ...bonds(schemas) },
    components: {
      schemas: schemas.components(),
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description: said(
            'O conteúdo de REGISTRY_TOKEN_FILE, se houver',
            'The content of REGISTRY_TOKEN_FILE, if set',
          ),
        },
      },
    },
  };
  return inLanguage(document, language) as Json;
}

function answer(schemas: Schemas, description: Bilingual, schema?: z.ZodType): Json {
  return {
    description,
    ...(schema && { content: { 'application/json': { schema: schemas.of(schema, 'output') } } }),
  };
}

function unavailable(schemas: Schemas): Json {
  return {
    503: answer(
      schemas,
      said('Não pode responder agora; o corpo é opcional', 'Cannot answer now; the body is optional'),
      errorTold,
    ),
  };
}

function margins(schemas: Schemas): Json {
  return {
    '/saude': {
      get: {
        operationId: 'saude',
        summary: said('Em serviço: qualquer 2xx', 'In service: any 2xx'),
        parameters: COMMON,
        responses: { 200: answer(schemas, said('Em serviço', 'In service')) },
      },
    },
    '/margens': {
      post: {
        operationId: 'consultarMargem',
        summary: said('A margem de um trabalhador; nunca repetida por nós', "A worker's margin; never repeated by us"),
        parameters: COMMON,
        requestBody: bodyOf(schemas, marginAsked),
        responses: {
          200: answer(schemas, said('A margem', 'The margin'), marginTold),
          422: answer(schemas, REFUSED, errorTold),
          ...unavailable(schemas),
        },
      },
    },
  };
}

function registrations(schemas: Schemas): Json {
  const registration = {
    200: answer(schemas, said('Concluída', 'Concluded'), registrationTold),
    202: {
      description: said('Em andamento: será consultada', 'Being worked on: it will be looked up'),
      headers: { 'Retry-After': RETRY_AFTER },
    },
    422: answer(schemas, REFUSED, errorTold),
  };
  return {
    '/averbacoes': {
      post: {
        operationId: 'averbar',
        summary: said(
          'Averba um empréstimo; repetida com a mesma chave até que haja resposta',
          'Registers a loan; repeated under the same key until there is an answer',
        ),
        parameters: [header('Idempotency-Key', said('O `averbacao_id`', 'The `averbacao_id`'), true), ...COMMON],
        requestBody: bodyOf(schemas, registrationAsked),
        responses: { ...registration, ...unavailable(schemas) },
      },
    },
    '/averbacoes/{averbacao_id}': {
      get: {
        operationId: 'lerAverbacao',
        summary: said(
          'O que houve com uma averbação em andamento',
          'What has become of a registration that was being worked on',
        ),
        parameters: [
          { name: 'averbacao_id', in: 'path', required: true, schema: { type: 'string', format: 'uuid' } },
          ...COMMON,
        ],
        responses: {
          ...registration,
          404: answer(schemas, said('Nunca pedida: será pedida de novo', 'Never asked: it will be posted again')),
          ...unavailable(schemas),
        },
      },
    },
  };
}

function bonds(schemas: Schemas): Json {
  return {
    '/vinculos/desligamentos': {
      get: list(
        schemas,
        'listarDesligamentos',
        said(
          'Desligamentos que o registry conheceu na janela',
          'Ends of bonds that the registry learned in the window',
        ),
        answer(schemas, said('Uma página', 'One page, at most 1,000 records'), endedPage),
      ),
    },
    '/vinculos/novos': {
      get: list(
        schemas,
        'listarNovosVinculos',
        said('Novos vínculos que o registry conheceu na janela', 'New bonds that the registry learned in the window'),
        answer(schemas, said('Uma página', 'One page, at most 1,000 records'), rehiredPage),
      ),
    },
  };
}

function said(pt: string, en: string): Bilingual {
  return { pt, en };
}

function bodyOf(schemas: Schemas, schema: z.ZodType): Json {
  return { required: true, content: { 'application/json': { schema: schemas.of(schema, 'output') } } };
}

const MEANINGS: Readonly<Record<string, Bilingual>> = {
  desde: said('Conhecidos neste instante ou depois', 'Known at this instant or later'),
  ate: said('Conhecidos antes deste instante', 'Known before this instant'),
  parceiro_id: said('Só os deste parceiro', 'Of this partner alone'),
  cursor: said('O `proximo_cursor` da página anterior', 'The `proximo_cursor` of the page before'),
};

function list(schemas: Schemas, operationId: string, summary: Bilingual, page: Json): Json {
  const { properties = {}, required = [] } = schemas.of(bondQuery, 'output') as {
    readonly properties?: Json;
    readonly required?: readonly string[];
  };
  const query = Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    description: MEANINGS[name],
    required: required.includes(name),
    schema,
  }));
  return { operationId, summary, parameters: [...query, ...COMMON], responses: { 200: page } };
}
