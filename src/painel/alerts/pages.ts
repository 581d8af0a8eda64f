/** Where people are told of their webhooks: an e-mail address, a chat, and the newest alerts. */
import { html } from 'hono/html';
import type { AlertSettings } from '../../contract/resources/alerts.ts';
import { type Answer, Refused, type Refusal } from '../api-client.ts';
import type { Html, Visit } from '../env.ts';
import type { Guard } from '../frame/guard.ts';
import { READ, WRITE } from '../frame/nav.ts';
import { answerPage } from '../frame/page.ts';
import { VERBATIM, formToken, tick } from '../frame/forms.ts';
import { doneNotice, moment, shortId, table } from '../frame/parts.ts';
import { refusalList, wrongField } from '../frame/refusals.ts';

const PATH = '/painel/avisos';
const DISABLED = html`disabled`;

export function addAlertPages(guard: Guard): void {
  const settle = (visit: Visit, answer: Answer<AlertSettings>, done: string) => {
    if (answer.ok) return visit.c.redirect(`${PATH}?feito=${done}`, 303);
    if (answer.status !== 400) throw new Refused(answer);
    return show(visit, answer);
  };
  guard.show(PATH, READ, (visit) => show(visit));
  guard.act(PATH, WRITE, async (visit, form) => {
    const [email = '', url = ''] = ['email', 'slack_url'].map((name) => form.get(name)?.trim());
    const chat = form.has('sem_chat') ? { slack_url: null } : { ...(url && { slack_url: url }) };
    const wanted = { email: email || null, ...chat };
    return settle(visit, await visit.api.send<AlertSettings>('PUT', '/v1/alertas', wanted), 'salvo');
  });
  guard.act(`${PATH}/teste`, WRITE, async (visit) =>
    settle(visit, await visit.api.send<AlertSettings>('POST', '/v1/alertas/teste'), 'teste'),
  );
}

async function show(visit: Visit, refusal?: Refusal): Promise<Response> {
  const { c, t, api, session } = visit;
  const settings = await api.read<AlertSettings>('/v1/alertas');
  return answerPage(c, {
    title: t.alerts.title,
    status: refusal === undefined ? 200 : 400,
    body: html`${refusal === undefined ? '' : refusalList(c, refusal.error)} ${doneNotice(visit, t.alerts.done)}
      <p>${t.alerts.intro}</p>
      ${session.identity.scopes.has('webhooks:write') ? form(visit, settings, refusal) : ''}
      ${settings.avisos.length === 0 ? '' : alertTable(visit, settings)}`,
  });
}

function form(visit: Visit, { email, slack, email_disponivel: hasMail }: AlertSettings, refusal?: Refusal): Html {
  const { t } = visit;
  const wrong = (field: string) => wrongField(refusal, field);
  return html`<form class="stack narrow" method="post" action="${PATH}">
      ${formToken(visit)}
      <label for="email">${t.alerts.email}</label>
      <input id="email" name="email" type="email" value="${email ?? ''}" ${wrong('email')} ${hasMail ? '' : DISABLED} />
      ${hasMail ? '' : html`<p class="dim">${t.alerts.noMail}</p>`}
      <label for="slack_url">${t.alerts.slack}</label>
      <input
        id="slack_url"
        name="slack_url"
        type="url"
        ${VERBATIM}
        ${wrong('slack_url')}
        aria-describedby="slack-dica"
      />
      <p id="slack-dica" class="dim">${slack === null ? t.alerts.slackHint : t.alerts.slackNow(slack)}</p>
      ${slack === null ? '' : tick(t.alerts.noChat, 'sem_chat', 'on', false)}
      <button class="primary">${t.webhooks.save}</button>
    </form>
    ${
      email === null && slack === null
        ? ''
        : html`<form method="post" action="${PATH}/teste">${formToken(visit)}<button>${t.webhooks.test}</button></form>`
    }`;
}

function alertTable(visit: Visit, { avisos }: AlertSettings): Html {
  const { t } = visit;
  return html`<h2>${t.alerts.newest}</h2>
    ${table(
      t.alerts.newest,
      [t.loans.at, t.alerts.kind, t.deliveries.webhook, t.alerts.channel, t.deliveries.status],
      avisos.map(({ tipo, canal, webhook_id: id, criado_em, enviado_em, erro, tentativas }) => [
        moment(visit, criado_em),
        html`<code>${tipo}</code>`,
        id === null ? '–' : html`<a href="/painel/webhooks/${id}">${shortId(id)}</a>`,
        canal,
        enviado_em === null
          ? html`<span class="badge badge-${erro === null ? 'pendente' : 'erro'}">${erro ?? t.status.pendente}</span>
              ${tentativas}`
          : html`<span class="badge badge-entregue">${t.status.entregue}</span>`,
      ]),
    )}`;
}
