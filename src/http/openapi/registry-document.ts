/** The interface of a lender's bridge to the registry as an OpenAPI 3.1 document. We are its client; the lender serves it. */
import type { z } from 'zod';
import { type Bilingual, inLanguage, type Language } from '../../contract/language.ts';
import {
  bondQuery,
  endedPage,
  errorReported,
  marginAsked,
  marginReported,
  registrationAsked,
  registrationReported,
  rehiredPage,
  RETRY_AFTER_S,
} from '../../contract/registry-wire.ts';
import { createSchemas, type Json } from './schemas.ts';

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

const said = (pt: string, en: string): Bilingual => ({ pt, en });

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
const RETRY_AFTER = {
  description: said('Em quantos segundos perguntar de novo', 'In how many seconds to ask again'),
  schema: {
    type: 'integer',
    minimum: RETRY_AFTER_S.least,
    maximum: RETRY_AFTER_S.most,
    default: RETRY_AFTER_S.default,
  },
};

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
    paths: pathsOf((schema) => schemas.of(schema, 'output')),
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

function pathsOf(schemaOf: (schema: z.ZodType) => Json): Json {
  const json = (schema: z.ZodType) => ({ content: { 'application/json': { schema: schemaOf(schema) } } });
  const answer = (pt: string, en: string, schema?: z.ZodType): Json => ({
    description: said(pt, en),
    ...(schema && json(schema)),
  });
  const bodyOf = (schema: z.ZodType) => ({ required: true, ...json(schema) });
  const call = (operationId: string, summary: Bilingual, responses: Json, own: readonly Json[] = [], body?: Json) => ({
    operationId,
    summary,
    parameters: [...own, ...COMMON],
    ...(body && { requestBody: body }),
    responses,
  });
  const refused = answer(
    'Recusada por uma razão de negócio; `erro` é mostrado ao parceiro, até 500 caracteres',
    'Refused for a reason of business; `erro` is shown to the partner, up to 500 characters',
    errorReported,
  );
  const away = answer(
    'Não pode responder agora; o corpo é opcional',
    'Cannot answer now; the body is optional',
    errorReported,
  );
  const end = {
    200: answer('Concluída', 'Concluded', registrationReported),
    202: {
      ...answer('Em andamento: será consultada', 'Being worked on: it will be looked up'),
      headers: { 'Retry-After': RETRY_AFTER },
    },
    422: refused,
    503: away,
  };
  const pageOf = (page: z.ZodType) => ({ 200: answer('Uma página', 'One page, at most 1,000 records', page) });
  const window = windowOf(schemaOf(bondQuery));
  const inService = said('Em serviço: qualquer 2xx', 'In service: any 2xx');
  const margin = said('A margem de um trabalhador; nunca repetida por nós', "A worker's margin; never repeated by us");
  const register = said(
    'Averba um empréstimo; repetida com a mesma chave até que haja resposta',
    'Registers a loan; repeated under the same key until there is an answer',
  );
  const key = header('Idempotency-Key', said('O `averbacao_id`', 'The `averbacao_id`'), true);
  const lookUp = said(
    'O que houve com uma averbação em andamento',
    'What has become of a registration that was being worked on',
  );
  const id = { name: 'averbacao_id', in: 'path', required: true, schema: { type: 'string', format: 'uuid' } };
  const never = answer('Nunca pedida: será pedida de novo', 'Never asked: it will be posted again');
  const ended = said(
    'Desligamentos que o registry conheceu na janela',
    'Ends of bonds that the registry learned in the window',
  );
  const hired = said(
    'Novos vínculos que o registry conheceu na janela',
    'New bonds that the registry learned in the window',
  );
  const margins = { 200: answer('A margem', 'The margin', marginReported), 422: refused, 503: away };
  return {
    '/saude': { get: call('saude', inService, { 200: answer('Em serviço', 'In service') }) },
    '/margens': { post: call('consultarMargem', margin, margins, [], bodyOf(marginAsked)) },
    '/averbacoes': { post: call('averbar', register, end, [key], bodyOf(registrationAsked)) },
    '/averbacoes/{averbacao_id}': { get: call('lerAverbacao', lookUp, { ...end, 404: never }, [id]) },
    '/vinculos/desligamentos': { get: call('listarDesligamentos', ended, pageOf(endedPage), window) },
    '/vinculos/novos': { get: call('listarNovosVinculos', hired, pageOf(rehiredPage), window) },
  };
}

const MEANINGS: Readonly<Record<string, Bilingual>> = {
  desde: said('Conhecidos neste instante ou depois', 'Known at this instant or later'),
  ate: said('Conhecidos antes deste instante', 'Known before this instant'),
  parceiro_id: said('Só os deste parceiro', 'Of this partner alone'),
  cursor: said('O `proximo_cursor` da página anterior', 'The `proximo_cursor` of the page before'),
};

function windowOf({
  properties = {},
  required = [],
}: {
  readonly properties?: Json;
  readonly required?: readonly string[];
}) {
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    description: MEANINGS[name],
    required: required.includes(name),
    schema,
  }));
}
