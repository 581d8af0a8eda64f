/** `GET /openapi.json`, `/openapi.en.json`: the partner's operations, for everybody; `?para=` names others. /docs/api has all. */
import type { Context } from 'hono';
import { INVALID_FIELDS } from '../../contract/refusals.ts';
import type { Language } from '../../contract/language.ts';
import { ApiError } from '../api-error.ts';
import { answerTagged, type Tagged, tagged } from '../answer.ts';
import { AUDIENCES, type Audience } from '../openapi/texts.ts';
import type { Env } from '../request-env.ts';

export const DESCRIPTION_PATHS: Readonly<Record<Language, string>> = { pt: '/openapi.json', en: '/openapi.en.json' };

/** `describe` is called once for each of the audiences, at the first request. */
export function answerDescription(describe: (audience: Audience) => unknown) {
  const made = new Map<Audience, Tagged>();
  return (c: Context<Env>): Response => {
    const audience = audienceOf(c.req.query('para'));
    const answer = made.get(audience) ?? tagged(Buffer.from(JSON.stringify(describe(audience))));
    made.set(audience, answer);
    return answerTagged(c, answer, 'application/json', {
      'Cache-Control': 'no-cache',
      'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
      'Referrer-Policy': 'no-referrer',
    });
  };
}

function audienceOf(asked = 'parceiro'): Audience {
  const audience = AUDIENCES.find((known) => known === asked);
  if (audience !== undefined) return audience;
  const details = [{ campo: 'para', mensagem: `deve ser um de: ${AUDIENCES.join(', ')}` }];
  throw new ApiError('ERRO_VALIDACAO', INVALID_FIELDS, { details });
}
