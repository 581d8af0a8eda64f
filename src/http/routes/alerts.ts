/** `/v1/alertas`: where a partner's people are told of their webhooks. */
import * as contract from '../../contract/resources/alerts.ts';
import { orderTest, readAlerts, setAddresses } from '../../webhooks/alerts.ts';
import { answered } from '../answer.ts';
import type { HttpDeps } from '../deps.ts';
import { route, type Routes } from '../route.ts';
import { targetUrl } from '../target-url.ts';

const PATH = '/v1/alertas';

const DESCRIPTION = {
  pt: 'Um e-mail e uma URL como as do Slack (recebe {"text": …}) em que pessoas do parceiro são avisadas quando um webhook seu passa a falhar, é suspenso ou volta a responder bem, e três horas antes de um secret anterior deixar de assinar. Cada aviso é tentado por duas horas.',
  en: 'An e-mail address and a URL like those of Slack (it takes {"text": …}) where people of the partner are told when a webhook of theirs begins to fail, is suspended or is well again, and three hours before a secret of before stops signing. Each alert is tried for two hours.',
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
    })(async ({ partnerId, body: { email, slack_url: slackUrl } }, deps) => {
      if (email !== null && !deps.sendsMail) return { refused: { kind: 'noMail' } };
      await deps.pool.run((sql) => setAddresses(sql, partnerId, { email, slackUrl }));
      return shown(partnerId, deps);
    }),
  route(`POST ${PATH}/teste`, 'webhooks:write', {
    ...shared,
    summary: {
      pt: 'Um aviso de teste em cada canal, no máximo um por minuto',
      en: 'A test alert on each channel, at most one a minute',
    },
  })(async ({ partnerId }, deps) => {
    await deps.pool.run((sql) => orderTest(sql, partnerId));
    return shown(partnerId, deps);
  }),
];

async function shown(partnerId: string, { pool, sendsMail }: HttpDeps) {
  const { email, slackUrl, alerts } = await pool.run((sql) => readAlerts(sql, partnerId));
  const avisos = alerts.map((one) => ({
    tipo: one.kind,
    canal: one.channel,
    webhook_id: one.kind === 'teste' ? null : one.subject,
    criado_em: one.createdAt.toISOString(),
    enviado_em: one.sentAt?.toISOString() ?? null,
    tentativas: one.attempts,
    erro: one.error,
  }));
  const slack = slackUrl === null ? null : new URL(slackUrl).origin;
  return { status: 200, body: { email, slack, email_disponivel: sendsMail, avisos } } as const;
}
