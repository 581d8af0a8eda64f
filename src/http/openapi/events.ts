/**
 * The emitted events and notices as OpenAPI's top-level `webhooks`: the request that the service sends, and the answers it takes.
 */
import { z } from 'zod';
import * as delivery from '../../contract/delivery.ts';
import { EVENT_EXAMPLES } from '../../contract/event-examples.ts';
import { type Bilingual, both } from '../../contract/language.ts';
import { EVENTS, SUBSCRIBABLE_NAMES, type SubscribableName } from '../../contract/events.ts';
import { delaysText } from '../../contract/schedule.ts';
import { id, timestamp } from '../../contract/values.ts';
import type { Json, Schemas } from './schemas.ts';
import { GUARANTEE_MEANING, paragraphs } from './texts.ts';

interface Header {
  readonly description: Bilingual;
  readonly schema: Json;
  readonly example: unknown;
  /** True for a header that some deliveries do not bear. */
  readonly isConditional?: boolean;
}

const uuid = { type: 'string', format: 'uuid' };
const ID_EXAMPLE = '019a6e0b-7f3c-7d52-9a41-5c1d2e3f4a5b';
const HEX_SIGNATURE = { type: 'string', pattern: '^sha256=[0-9a-f]{64}$' };
const HEX_EXAMPLE = `sha256=${'0123456789abcdef'.repeat(4)}`;

const HEADERS: Readonly<Record<string, Header>> = {
  [delivery.HEADER_DELIVERY]: {
    description: {
      pt: 'O id da entrega, igual em toda tentativa: deduplique por ele',
      en: "The delivery's id, the same in every attempt: deduplicate by it",
    },
    schema: uuid,
    example: ID_EXAMPLE,
  },
  [delivery.HEADER_SIGNATURE]: {
    description: {
      pt: '`sha256=` e o HMAC-SHA256, em hexadecimal, dos bytes exatos do corpo; a chave é o secret inteiro, como mostrado',
      en: '`sha256=` and the HMAC-SHA256, in hex, of the exact bytes of the body; the key is the whole secret, as shown',
    },
    schema: HEX_SIGNATURE,
    example: HEX_EXAMPLE,
  },
  [delivery.HEADER_PREVIOUS_SIGNATURE]: {
    description: {
      pt: `O mesmo pelo secret anterior, por ${delivery.PREVIOUS_SECRET_H} h a partir de quando o novo assina`,
      en: `The same by the secret before, for ${delivery.PREVIOUS_SECRET_H} h from when the new one signs`,
    },
    schema: HEX_SIGNATURE,
    example: HEX_EXAMPLE,
    isConditional: true,
  },
  [delivery.HEADER_LOAN_VERSION]: {
    description: {
      pt: 'A versão do empréstimo no evento: descarte o que for mais velho do que já se conhece',
      en: "The loan's version at the event: drop what is older than what you know",
    },
    schema: { type: 'integer', minimum: 1 },
    example: 4,
    isConditional: true,
  },
  [delivery.HEADER_TEST]: {
    description: {
      pt: '`1` num teste que o parceiro pediu: nenhum empréstimo tem os ids e o número que ele traz',
      en: '`1` in a test that the partner asked for: no loan has the ids and the number that it brings',
    },
    schema: { type: 'string', const: '1' },
    example: '1',
    isConditional: true,
  },
  [delivery.HEADER_USER_AGENT]: {
    description: { pt: 'Quem envia, e em que versão', en: 'Who sends, and in which version' },
    schema: { type: 'string', pattern: '^Carteiro/' },
    example: 'Carteiro/0.2.0',
  },
  [delivery.HEADER_STANDARD_ID]: {
    description: { pt: 'Standard Webhooks: o id da entrega', en: "Standard Webhooks: the delivery's id" },
    schema: uuid,
    example: ID_EXAMPLE,
  },
  [delivery.HEADER_STANDARD_TIMESTAMP]: {
    description: {
      pt: 'Standard Webhooks: o instante da tentativa, em segundos desde 1970',
      en: 'Standard Webhooks: the moment of the attempt, in seconds since 1970',
    },
    schema: { type: 'integer', minimum: 1 },
    example: 1_769_860_800,
  },
  [delivery.HEADER_STANDARD_SIGNATURE]: {
    description: {
      pt: 'Standard Webhooks: `v1,` e o HMAC-SHA256 em base64 de `id.timestamp.corpo`; a chave são os bytes do secret sem o prefixo `whsec_`, decodificado de base64. Uma assinatura por secret vigente, separadas por espaço',
      en: 'Standard Webhooks: `v1,` and the HMAC-SHA256 in base64 of `id.timestamp.body`; the key is what follows `whsec_`, decoded from base64. One signature for each secret in force, separated by spaces',
    },
    schema: { type: 'string', pattern: '^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)*$' },
    example: `v1,${Buffer.from('0123456789abcdef'.repeat(2)).toString('base64')}`,
  },
};

/** The headers of deliveries, as `components.parameters`. */
export const DELIVERY_HEADERS = Object.fromEntries(
  Object.entries(HEADERS).map(([name, { description, schema, example, isConditional = false }]) => [
    name,
    { name, in: 'header', required: !isConditional, description, schema, example },
  ]),
);

/** Made once: a component's name belongs to one schema. */
const ENVELOPES = SUBSCRIBABLE_NAMES.map((name) => {
  const envelope = z.strictObject({
    evento: z.literal(name),
    timestamp: timestamp.meta({ text: { pt: 'O instante da emissão', en: 'The moment of the emission' } }),
    parceiro_id: id.optional().meta({
      text: {
        pt: 'O dono do webhook; ausente nos eventos da API de leilão',
        en: "The webhook's owner; absent in events of the auction API",
      },
    }),
    data: EVENTS[name].data,
  });
  return { name, envelope: envelope.meta({ id: `Evento${pascal(name)}` }) };
});

export function describeEvents(schemas: Schemas): Json {
  return Object.fromEntries(
    ENVELOPES.map(({ name, envelope }) => [name, { post: describeEvent(name, schemas.open(envelope)) }]),
  );
}

/** An event as it arrives. */
export function exampleOf(name: SubscribableName) {
  return {
    evento: name,
    timestamp: '2026-01-31T12:00:00.000Z',
    parceiro_id: ID_EXAMPLE,
    data: EVENT_EXAMPLES[name],
  };
}

function describeEvent(name: SubscribableName, body: Json): Json {
  const { meaning, guarantee } = EVENTS[name];
  return {
    operationId: `receive${pascal(name)}`,
    summary: both((language) => meaning[language].summary),
    description: both((language) => paragraphs(meaning[language].more, GUARANTEE_MEANING[guarantee][language])),
    security: [],
    // For openapi-generator: nobody calls this, and its Python client makes a file of it that is no Python.
    'x-internal': true,
    parameters: [
      {
        name: delivery.HEADER_EVENT,
        in: 'header',
        required: true,
        schema: { type: 'string', const: name },
        example: name,
        description: {
          pt: 'O nome do evento, igual a `evento` no corpo',
          en: "The event's name, as `evento` in the body",
        },
      },
      ...Object.keys(HEADERS).map((header) => ({ $ref: `#/components/parameters/${header}` })),
    ],
    requestBody: { required: true, content: { 'application/json': { schema: body, example: exampleOf(name) } } },
    responses: {
      '2XX': { $ref: '#/components/responses/Recebido' },
      default: { $ref: '#/components/responses/NaoRecebido' },
    },
  };
}

/** `margem.concluida` → `MargemConcluida`. */
function pascal(name: string): string {
  return name
    .split(/[._]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}

/** What a receiver answers, as `components.responses`. */
export const RECEIVER_ANSWERS: Json = {
  Recebido: {
    description: {
      pt: `Qualquer 2xx em até ${delivery.TIMES_S.response} s: a entrega está \`entregue\`. O corpo é ignorado.`,
      en: `Any 2xx within ${delivery.TIMES_S.response} s: the delivery is \`entregue\`. The body is ignored.`,
    },
  },
  NaoRecebido: {
    description: {
      pt: `Qualquer outra resposta, um redirecionamento, um erro de conexão ou o fim do prazo: a entrega é tentada de novo ${delaysText().pt} depois do fim da tentativa anterior; então termina em \`erro\`.`,
      en: `Any other answer, a redirect, an error of the connection or the end of the time: the delivery is tried again ${delaysText().en} after the end of the attempt before; then it ends in \`erro\`.`,
    },
  },
};
