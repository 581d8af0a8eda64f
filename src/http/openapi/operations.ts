/** One operation as OpenAPI describes it, made from the object that routes and checks it. */
import type { z } from 'zod';
import type { ErrorCode } from '../../contract/errors.ts';
import { type Bilingual, both } from '../../contract/language.ts';
import { id } from '../../contract/values.ts';
import { sizeText } from '../body/body-stream.ts';
import { MAX_BODY_BYTES, SMALL_BODY_PACE } from '../body/body.ts';
import { type AnswerDescription, LAG_HEADER } from '../answer.ts';
import { idempotencyKey, type Operation } from '../operation.ts';
import { type ErrorAnswers, sharedHeaders } from './error-answers.ts';
import type { Json, Schemas } from './schemas.ts';
import { paragraphs, SCOPE_MEANING } from './texts.ts';

const SHARED_ERRORS: readonly ErrorCode[] = [
  'CREDENCIAL_INVALIDA',
  'ESCOPO_INSUFICIENTE',
  'LIMITE_DE_REQUISICOES',
  'ERRO_INTERNO',
  'INDISPONIVEL',
];

const KEY_TEXT = {
  required: {
    pt: 'Obrigatória: a mesma chave com o mesmo corpo devolve a resposta da primeira vez, sem fazer nada de novo.',
    en: 'Required: the same key with the same body answers as the first time, and nothing is done anew.',
  },
  optional: {
    pt: 'Se enviada, a mesma chave com o mesmo corpo devolve o resultado da primeira vez, sem fazer nada de novo.',
    en: 'If sent, the same key with the same body answers the result of the first time, and nothing is done anew.',
  },
};

export function describeOperation(operation: Operation, schemas: Schemas, errors: ErrorAnswers): Json {
  const { summary, since, scope, body, bodyDescribed = body, isBodyOptional = false, bodyExample: example } = operation;
  return {
    operationId: operationId(operation),
    summary,
    ...(since !== undefined && { 'x-since': since }),
    description: descriptionOf(operation),
    tags: [tagOf(operation)],
    security: [{ bearer: [scope] }],
    parameters: parametersOf(operation, schemas),
    ...(bodyDescribed && {
      requestBody: {
        required: !isBodyOptional,
        content: {
          'application/json': { schema: schemas.of(bodyDescribed, 'input'), ...(example !== undefined && { example }) },
        },
      },
    }),
    responses: { ...answersOf(operation, schemas), ...errors.of(errorsOf(operation)) },
  };
}

/** The first segment after the version: `/v1/emprestimos/{id}` is under `emprestimos`. */
export function tagOf({ path }: Operation): string {
  return path.split('/')[2] ?? '';
}

/** `POST /v1/emprestimos/{id}/averbacao` → `postEmprestimosIdAverbacao`. */
function operationId({ method, path }: Operation): string {
  const words = path.split(/[^a-z0-9]+/).slice(2);
  return [method, ...words.map((word) => word.charAt(0).toUpperCase() + word.slice(1))].join('');
}

function descriptionOf({ description, scope, body, maxBodyBytes = MAX_BODY_BYTES }: Operation): Bilingual {
  const size = sizeText(maxBodyBytes);
  const timeS = SMALL_BODY_PACE.graceMs / 1_000;
  const limit = body && {
    pt: `O corpo tem no máximo ${size}${maxBodyBytes > MAX_BODY_BYTES ? '' : ` e chega em ${timeS} s`}.`,
    en: `The body is at most ${size}${maxBodyBytes > MAX_BODY_BYTES ? '' : ` and comes within ${timeS} s`}.`,
  };
  const needed = { pt: 'Escopo exigido', en: 'Scope' };
  return both((language) =>
    paragraphs(
      description?.[language],
      `${needed[language]}: \`${scope}\` (${SCOPE_MEANING[scope][language]}).`,
      limit?.[language],
    ),
  );
}

const SENT_ERRORS: readonly ErrorCode[] = ['ERRO_VALIDACAO', 'CORPO_MUITO_GRANDE', 'TIPO_NAO_SUPORTADO'];

/** Without a body it refuses one by the same three rules; with a path parameter it answers 404 for an unknown value. */
function errorsOf({ method, path, errors = [] }: Operation): readonly ErrorCode[] {
  const sent = method === 'get' ? SENT_ERRORS.slice(0, 1) : SENT_ERRORS;
  const unknown: readonly ErrorCode[] = path.includes('{') ? ['NAO_ENCONTRADO'] : [];
  return [...sent, ...SHARED_ERRORS, ...unknown, ...errors];
}

function parametersOf({ path, params = {}, query, idempotencyKey: key }: Operation, schemas: Schemas): Json[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => [name, params[name] ?? id] as const);
  return [
    ...inPath.map(([name, schema]) => ({ name, in: 'path', required: true, schema: schemas.of(schema, 'input') })),
    ...(query === undefined ? [] : queryParameters(query, schemas)),
    ...(key === undefined
      ? []
      : [
          {
            name: 'Idempotency-Key',
            in: 'header',
            required: key === 'required',
            description: KEY_TEXT[key],
            schema: schemas.of(idempotencyKey, 'input'),
          },
        ]),
  ];
}

function queryParameters(query: z.ZodType, schemas: Schemas): Json[] {
  const { properties = {}, required = [] } = schemas.of(query, 'input') as {
    readonly properties?: Readonly<Record<string, Json>>;
    readonly required?: readonly string[];
  };
  return Object.entries(properties).map(([name, { text: description, ...schema }]) => {
    const parameter = { name, in: 'query', required: required.includes(name), schema };
    return description === undefined ? parameter : Object.assign(parameter, { description });
  });
}

const LAG = {
  [LAG_HEADER]: {
    pt: 'Quantos segundos esta leitura está atrás do que foi gravado; ausente quando não está',
    en: 'How many seconds this read is behind what was written; absent when it is not',
  },
};

function answersOf({ answers, isReport }: Operation, schemas: Schemas): Json {
  const described = Object.entries(answers).map(([status, answer]) => [
    status,
    {
      description: answer.description,
      headers: {
        ...sharedHeaders(),
        ...ownHeaders(answer),
        ...(isReport && ownHeaders({ optionalHeaders: LAG })),
      },
      content: contentOf(answer, schemas),
    },
  ]);
  return Object.fromEntries(described);
}

function ownHeaders({ headers = {}, optionalHeaders = {} }: Omit<AnswerDescription, 'description'>): Json {
  const schema = { type: 'string' };
  return Object.fromEntries([
    ...Object.entries(headers).map(([name, description]) => [name, { description, required: true, schema }]),
    ...Object.entries(optionalHeaders).map(([name, description]) => [name, { description, required: false, schema }]),
  ]);
}

/** Undefined, and so left out of the document, for an answer without a body. */
function contentOf({ schema, fileTypes = [] }: AnswerDescription, schemas: Schemas): Json | undefined {
  const content = {
    ...(schema && { 'application/json': { schema: schemas.of(schema, 'output') } }),
    ...Object.fromEntries(fileTypes.map((type) => [type, { schema: { type: 'string' } }])),
  };
  return Object.keys(content).length === 0 ? undefined : content;
}
