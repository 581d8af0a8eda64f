/** `/v1/alertas`: the addresses that get alerts about a partner's webhooks. */
import * as contract from '../../contract/resources/alerts.ts';
import { confirmAddress, orderTest, readAlerts, setAddresses } from '../../webhooks/alerts.ts';
import { answered } from '../answer.ts';
import type { HttpDeps } from '../deps.ts';
import { route, type Routes } from '../route.ts';
import { targetUrl } from '../target-url.ts';

const PATH = '/v1/alertas';

const DESCRIPTION = {
  pt: 'Um e-mail e uma URL como as do Slack (recebe {"text": …}) em que pessoas do parceiro são avisadas: atraso (a quarta tentativa de uma entrega falhou), erro (entregas terminaram em erro), falhando, suspensao, fim_da_falha, resposta_estranha (as respostas 2xx são páginas HTML, ou grandes demais), certificado (vence em 21, 7 ou 1 dias), mudanca (URL, secret, credenciais ou avisos mudaram; também no endereço anterior), silenciado (a operação parou os envios) e fim_do_segredo (três horas antes). De atraso e erro sai no máximo um aviso por webhook e hora, com quantas entregas e a primeira. Um endereço novo recebe só um código, até ser confirmado por POST /v1/alertas/confirmacao. Cada aviso é tentado por duas horas, o de teste uma vez. canal evento: os avisos webhook.atraso e webhook.erro.',
  en: 'An e-mail address and a URL like those of Slack (it takes {"text": …}) where people of the partner are told: atraso (the fourth attempt of a delivery has failed), erro (deliveries have ended in erro), falhando, suspensao, fim_da_falha, resposta_estranha (the 2xx answers are HTML pages, or too large), certificado (ends in 21, 7 or 1 days), mudanca (URL, secret, credentials or alerts changed; also to the address before), silenciado (the operator stopped sending) and fim_do_segredo (three hours before). Of atraso and erro at most one alert leaves a webhook and hour, with how many deliveries and the first. A new address gets nothing but a code until it is confirmed by POST /v1/alertas/confirmacao. Each alert is tried for two hours, a test once. canal evento: the notices webhook.atraso and webhook.erro.',
};

const shared = {
  description: DESCRIPTION,
  answers: answered(200, contract.alertSettings, { pt: 'Os avisos', en: 'The alerts' }),
} as const;

export const alertRoutes: Routes = [
  route(`GET ${PATH}`, 'webhooks:read', {
    ...shared,
    summary: { pt: 'Para onde vão os avisos, e os mais novos', en: 'Where alerts go, and the newest' },
  })(({ partnerId }, deps) => shown(partnerId, deps)),
  ({ allowInsecure }) =>
    route(`PUT ${PATH}`, 'webhooks:write', {
      ...shared,
      summary: { pt: 'Escolhe para onde vão os avisos', en: 'Chooses where alerts go' },
      body: contract.alertAddresses(targetUrl(allowInsecure)),
      errors: ['LIMITE_DE_REQUISICOES'],
    })(async (call, deps) => {
      const { email, slack_url: slack } = call.body;
      if (email !== null && !deps.sendsMail) return { refused: { kind: 'noMail' } };
      const set = await deps.pool.transaction((tx) => setAddresses(tx, call, { email, slack }));
      return 'refused' in set ? set : shown(call.partnerId, deps);
    }),
  route(`POST ${PATH}/confirmacao`, 'webhooks:write', {
    since: '0.4',
    ...shared,
    summary: {
      pt: 'Confirma um endereço pelo código que ele recebeu; vale 24 h',
      en: 'Confirms an address by the code that it was sent; good for 24 h',
    },
    body: contract.alertCode,
  })(async (call, deps) => {
    const done = await deps.pool.transaction((tx) => confirmAddress(tx, call, call.body.codigo));
    return done === 'wrong' ? { refused: { kind: 'wrongCode' } } : shown(call.partnerId, deps);
  }),
  route(`POST ${PATH}/teste`, 'webhooks:write', {
    ...shared,
    summary: {
      pt: 'Um aviso de teste em cada endereço confirmado, no máximo um por minuto',
      en: 'A test alert at each confirmed address, at most one a minute',
    },
  })(async ({ partnerId }, deps) => {
    await deps.pool.run((sql) => orderTest(sql, partnerId));
    return shown(partnerId, deps);
  }),
];

async function shown(partnerId: string, { pool, sendsMail }: HttpDeps) {
  const { addresses, alerts, changes } = await pool.run((sql) => readAlerts(sql, partnerId));
  const [email, slack] = ['email', 'slack'].map((channel) => addresses.find((one) => one.channel === channel));
  const body = {
    email: email?.address ?? null,
    email_confirmado: email !== undefined && email.confirmedAt !== null,
    slack: slack === undefined ? null : new URL(slack.address).origin,
    slack_confirmado: slack !== undefined && slack.confirmedAt !== null,
    email_disponivel: sendsMail,
    avisos: alerts.map((one) => ({
      tipo: one.kind,
      canal: one.channel,
      webhook_id: one.subject === partnerId ? null : one.subject,
      criado_em: one.createdAt.toISOString(),
      enviado_em: one.sentAt?.toISOString() ?? null,
      tentativas: one.attempts,
      erro: one.error,
    })),
    mudancas: changes.map(({ changedAt, actor }) => ({ mudou_em: changedAt.toISOString(), autor: actor })),
  };
  return { status: 200, body } as const;
}
