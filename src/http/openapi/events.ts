/** The emitted events and the notices as OpenAPI's top-level `webhooks`: what the service sends, and what it makes of the answer. */
import { z } from 'zod';
import * as delivery from '../../contract/delivery.ts';
import { EVENT_EXAMPLES } from '../../contract/event-examples.ts';
import { EVENTS, SUBSCRIBABLE_NAMES, type SubscribableName } from '../../contract/events.ts';
import { RETRY_DELAYS_TEXT } from '../../contract/schedule.ts';
import { id, timestamp } from '../../contract/values.ts';
import type { Json, Schemas } from './schemas.ts';
import { GUARANTEE_MEANING } from './texts.ts';

interface Header {
  readonly description: string;
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
    description: 'O id da entrega, igual em toda tentativa: deduplique por ele',
    schema: uuid,
    example: ID_EXAMPLE,
  },
  [delivery.HEADER_SIGNATURE]: {
    description: 'HMAC-SHA256, em hexadecimal, dos bytes exatos do corpo; a chave é o secret inteiro, como mostrado',
    schema: HEX_SIGNATURE,
    example: HEX_EXAMPLE,
  },
  [delivery.HEADER_PREVIOUS_SIGNATURE]: {
    description: `O mesmo pelo secret anterior, por ${delivery.PREVIOUS_SECRET_H} h a partir de quando o novo assina`,
    schema: HEX_SIGNATURE,
    example: HEX_EXAMPLE,
    isConditional: true,
  },
  [delivery.HEADER_LOAN_VERSION]: {
    description: 'A versão do empréstimo no evento: descarte o que for mais velho do que já se conhece',
    schema: { type: 'integer', minimum: 1 },
    example: 4,
    isConditional: true,
  },
  [delivery.HEADER_TEST]: {
    description: '`1` num teste que o parceiro pediu: nenhum empréstimo tem os ids e o número que ele traz',
    schema: { type: 'string', const: '1' },
    example: '1',
    isConditional: true,
  },
  [delivery.HEADER_USER_AGENT]: {
    description: 'Quem envia, e em que versão',
    schema: { type: 'string', pattern: '^Carteiro/' },
    example: 'Carteiro/0.2.0',
  },
  [delivery.HEADER_STANDARD_ID]: {
    description: 'Standard Webhooks: o id da entrega',
    schema: uuid,
    example: ID_EXAMPLE,
  },
  [delivery.HEADER_STANDARD_TIMESTAMP]: {
    description: 'Standard Webhooks: o instante da tentativa, em segundos desde 1970',
    schema: { type: 'integer', minimum: 1 },
    example: 1_769_860_800,
  },
  [delivery.HEADER_STANDARD_SIGNATURE]: {
    description:
      'Standard Webhooks: `v1,` e o HMAC-SHA256 em base64 de `id.timestamp.corpo`; a chave são os bytes do secret sem o prefixo `whsec_`, decodificado de base64. Uma assinatura por secret vigente, separadas por espaço',
    schema: { type: 'string', pattern: '^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)*$' },
    example: `v1,${Buffer.from('0123456789abcdef'.repeat(2)).toString('base64')}`,
  },
};

/** The headers of deliveries, as `components.parameters`. */
export const DELIVERY_HEADERS: Json = Object.fromEntries(
  Object.entries(HEADERS).map(([name, { description, schema, example, isConditional = false }]) => [
    name,
    { name, in: 'header', required: !isConditional, description, schema, example },
  ]),
);

/** Made once: a component's name belongs to one schema. */
const ENVELOPES = SUBSCRIBABLE_NAMES.map((name) => {
  const envelope = z.strictObject({
    evento: z.literal(name),
    timestamp: timestamp.meta({ description: 'O instante da emissão' }),
    parceiro_id: id.optional().meta({ description: 'O dono do webhook; ausente nos eventos da API de leilão' }),
    data: EVENTS[name].data,
  });
  return { name, envelope: envelope.meta({ id: `Evento${pascal(name)}` }) };
});

/** Every event by its name. */
export function describeEvents(schemas: Schemas): Json {
  return Object.fromEntries(
    ENVELOPES.map(({ name, envelope }) => [name, { post: describeEvent(name, schemas.open(envelope)) }]),
  );
}

function describeEvent(name: SubscribableName, body: Json): Json {
  const example = {
    evento: name,
    timestamp: '2026-01-31T12:00:00.000Z',
    parceiro_id: ID_EXAMPLE,
    data: EVENT_EXAMPLES[name],
  };
  const eventHeader = {
    name: delivery.HEADER_EVENT,
    in: 'header',
    required: true,
    schema: { type: 'string', const: name },
    example: name,
  };
  const { summary, more } = EVENTS[name].meaning.pt;
  return {
    operationId: `receive${pascal(name)}`,
    summary,
    description: [more, GUARANTEE_MEANING[EVENTS[name].guarantee]].filter((text) => text !== undefined).join('\n\n'),
    security: [],
    // For openapi-generator: nobody calls this, and its Python client makes a file of it that is no Python.
    'x-internal': true,
    parameters: [
      { ...eventHeader, description: 'O nome do evento, igual a `evento` no corpo' },
      ...Object.keys(HEADERS).map((header) => ({ $ref: `#/components/parameters/${header}` })),
    ],
    requestBody: { required: true, content: { 'application/json': { schema: body, example } } },
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
    description: `Qualquer 2xx em até ${delivery.RESPONSE_TIMEOUT_S} s: a entrega está \`entregue\`. O corpo é ignorado.`,
  },
  NaoRecebido: {
    description: `Qualquer outra resposta, um redirecionamento, um erro de conexão ou o fim do prazo: a entrega é tentada de novo ${RETRY_DELAYS_TEXT} depois do fim da tentativa anterior; então termina em \`erro\`.`,
  },
};
