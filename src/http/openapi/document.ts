/** The interface as OpenAPI 3.1, made from its operations, without the probes' (`/healthz`, `/readyz`, `/metrics`). */
import { type Bilingual, both, type Language } from '../../contract/language.ts';
import { SCOPES } from '../../contract/statuses.ts';
import type { Operation } from '../operation.ts';
import { ANSWER_HEADERS, createErrorAnswers } from './error-answers.ts';
import { DELIVERY_HEADERS, describeEvents, RECEIVER_ANSWERS } from './events.ts';
import { describeOperation, tagOf } from './operations.ts';
import { createSchemas, type Json } from './schemas.ts';
import { type Audience, INTRODUCTION, PARTNER, SCOPE_MEANING, TAG_AUDIENCE, TAG_MEANING, TOKEN_TEXT } from './texts.ts';

/** Both languages' document of an audience's operations in one: `inLanguage` makes OpenAPI of it. */
export function describeApi(all: readonly Operation[], audience: Audience): Json {
  const operations = all.filter((operation) => audience === 'tudo' || audienceOf(operation) === audience);
  const schemas = createSchemas();
  const errors = createErrorAnswers(schemas);
  const paths = Map.groupBy(operations, ({ path }) => path);
  const described = [...paths].map(([path, methods]) => [
    path,
    Object.fromEntries(methods.map((operation) => [operation.method, describeOperation(operation, schemas, errors)])),
  ]);
  const webhooks = describeEvents(schemas);
  const tags = [...new Set(operations.map(tagOf))].toSorted((one, other) => placeOf(one) - placeOf(other));
  return {
    openapi: '3.1.0',
    info: {
      title: 'Carteiro',
      version: '1',
      description: INTRODUCTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: { pt: 'Este servidor', en: 'This server' } }],
    tags: tags.map((name) => ({ name, description: tagText(name) })),
    paths: Object.fromEntries(described),
    webhooks,
    components: {
      schemas: schemas.components(),
      responses: { ...errors.responses(), ...RECEIVER_ANSWERS },
      parameters: DELIVERY_HEADERS,
      examples: errors.examples(),
      headers: ANSWER_HEADERS,
      securitySchemes: { bearer: bearerScheme() },
    },
  };
}

/** Where a tag stands: the partner's first, then those of the lender's own people and systems. */
const placeOf = (tag: string) => Object.keys(TAG_AUDIENCE).indexOf(tag);

function audienceOf(operation: Operation): string {
  const tag = tagOf(operation);
  return tag in TAG_AUDIENCE ? tag : 'parceiro';
}

function tagText(tag: string): Bilingual {
  const audience = TAG_AUDIENCE[tag] ?? PARTNER;
  const meaning = TAG_MEANING[tag];
  if (meaning === undefined) throw new Error(`/v1/${tag} is a new area: say in openapi/texts.ts what it means`);
  return both((language) => `${audience[language]} · ${meaning[language]}`);
}

function bearerScheme(): Json {
  const scopes = (language: Language) => SCOPES.map((scope) => `- \`${scope}\`: ${SCOPE_MEANING[scope][language]}`);
  const description = both((language) => [TOKEN_TEXT[language], '', ...scopes(language)].join('\n'));
  return { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description };
}
