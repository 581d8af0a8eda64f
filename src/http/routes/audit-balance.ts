/** `GET /v1/auditoria/balanco`: the conservation law of the deliveries, by partner and day. */
import { z } from 'zod';
import { readBalance } from '../../audit/balance.ts';
import {
  balance,
  type BalanceResource,
  MAX_BALANCE_DAYS,
  MAX_LISTED_DIFFERENCES,
} from '../../contract/resources/audit-resource.ts';
import { TEST_NAME } from '../../contract/delivery.ts';
import { NOTICE_NAMES } from '../../contract/events.ts';
import { date } from '../../contract/values.ts';
import { daysBetween, FIRST_DAY, LAST_DAY } from '../../contract/calendar.ts';
import { findRemoved } from '../../audit/removed-days.ts';
import { writeBalance } from '../../audit/add-up-balance.ts';
import { answered, JsonStream } from '../answer.ts';
import { route, type Routes } from '../route.ts';

const isCounted = (day: string) => day >= FIRST_DAY && day <= LAST_DAY;
const day = date
  .refine(isCounted, `deve ser de ${FIRST_DAY} a ${LAST_DAY}`)
  .meta({ pattern: '^(19[7-9]|2[0-9]{2})[0-9]-' });

const query = z
  .strictObject({ de: day, ate: day, recontar: z.enum(['true', 'false']).optional() })
  .refine(({ de, ate }) => de <= ate, { path: ['ate'], message: 'não pode ser um dia anterior ao do parâmetro `de`' })
  // zod runs this on invalid days too (daysBetween is NaN); the day's own rule reports those.
  .refine(({ de, ate }) => !(daysBetween(de, ate) >= MAX_BALANCE_DAYS), {
    path: ['ate'],
    message: `o período tem no máximo ${MAX_BALANCE_DAYS} dias; o comando audit balance não tem limite`,
  });

export const auditBalanceRoutes: Routes = [
  route('GET /v1/auditoria/balanco', 'auditoria:read', {
    summary: {
      pt: 'Balanço das entregas por parceiro e dia, recalculado dos eventos e da história dos webhooks',
      en: 'The balance of deliveries by partner and day, computed anew from the events and the history of the webhooks',
    },
    description: {
      pt: `esperadas vem dos eventos e dos webhooks ativos na gravação de cada um, nunca das entregas. Lista até ${MAX_LISTED_DIFFERENCES} diferenças; total_diferencas conta todas. ${TEST_NAME} e os avisos (${NOTICE_NAMES.join(', ')}) ficam fora. importados são eventos do histórico: não têm entregas. fato_inesperado é um evento que o próprio serviço não gravaria naquele ponto do fluxo, como um desembolso liquidado sem averbação: foi enviado e vale no empréstimo como fato. A resposta vem enquanto é calculada, dia a dia, e um dia de muito movimento hora a hora: um JSON que não termina não está inteiro. Dias encerrados vêm como foram guardados pelo último balanço (guardados diz quantos e sobre que selos); recontar=true conta tudo outra vez. Um dia a contar que tem entregas só no arquivo de um mês é 409: restaure o mês antes.`,
      en: `esperadas comes from the events and the webhooks that were active when each was written, never from the deliveries. Up to ${MAX_LISTED_DIFFERENCES} differences are listed; total_diferencas counts all. ${TEST_NAME} and the notices (${NOTICE_NAMES.join(', ')}) are left out. importados are events of history: they make no delivery. fato_inesperado is an event that the service itself would not write at that point, as a disbursement settled without a registration: it was sent, and counts in the loan as a fact. The answer comes while it is computed, day by day, and a busy day hour by hour: a JSON that does not end is not whole. Settled days come as the last balance kept them (guardados says how many, and on which seals); recontar=true counts everything again. A day to be counted that has deliveries in the archive of a month alone is 409: restore the month first.`,
    },
    isReport: true,
    query,
    answers: answered(200, balance, {
      pt: 'O balanço; fecha é verdadeiro quando nenhuma entrega falta ou sobra; fato_inesperado não o torna falso',
      en: 'The balance; fecha is true when no delivery is missing or too many; fato_inesperado does not make it false',
    }),
    errors: ['TRANSICAO_INVALIDA'],
  })(async ({ query: { de, ate, recontar }, reading: { pool } }) => {
    const how = { anew: recontar === 'true' };
    const removed = await findRemoved(pool, de, ate, how);
    if ('refused' in removed) return removed;
    const slices = readBalance(pool, de, ate, how);
    return { status: 200, body: new JsonStream<BalanceResource>(await writeBalance(slices, de, ate)) };
  }),
];
