/** Where people are told of their webhooks: an e-mail address, a chat, and the newest alerts. */
import { html } from 'hono/html';
import type { AlertSettings } from '../../contract/resources/alerts.ts';
import { type Answer, Refused, type Refusal } from '../api-client.ts';
import type { Html, Visit } from '../env.ts';
import type { Guard } from '../frame/guard.ts';
import { READ, WRITE } from '../frame/nav.ts';
import { answerPage } from '../frame/page.ts';
import { VERBATIM, formToken, input, tick } from '../frame/forms.ts';
import { doneNotice, moment, shortId, table } from '../frame/parts.ts';
import { refusalList, wrongField } from '../frame/refusals.ts';

const PATH = '/painel/avisos';
const DISABLED = html`disabled`;

export function addAlertPages(guard: Guard): void {
  const settle = (visit: Visit, answer: Answer<AlertSettings>, done: string) => {
    if (answer.ok) return visit.c.redirect(`${PATH}?feito=${done}`, 303);
    if (answer.status !== 400 && answer.status !== 429) throw new Refused(answer);
    return show(visit, answer);
  };
  guard.show(PATH, READ, (visit) => show(visit));
  guard.act(PATH, WRITE, async (visit, form) => {
    const [email = '', url = ''] = ['email', 'slack_url'].map((name) => form.get(name)?.trim());
    const chat = form.has('sem_chat') ? { slack_url: null } : { ...(url && { slack_url: url }) };
    const wanted = { email: email || null, ...chat };
    return settle(visit, await visit.api.send<AlertSettings>('PUT', '/v1/alertas', wanted), 'salvo');
  });
  guard.act(`${PATH}/confirmacao`, WRITE, async (visit, form) => {
    const codigo = form.get('codigo')?.replaceAll(/\s/g, '') ?? '';
    const answer = await visit.api.send<AlertSettings>('POST', '/v1/alertas/confirmacao', { codigo });
    return settle(visit, answer, 'confirmado');
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
      ${settings.avisos.length === 0 ? '' : alertTable(visit, settings)} ${changes(visit, settings)}`,
  });
}

function form(visit: Visit, settings: AlertSettings, refusal?: Refusal): Html {
  const { email, slack, email_disponivel: hasMail, email_confirmado: hasEmail, slack_confirmado: hasChat } = settings;
  const { t } = visit;
  const wrong = (field: string) => wrongField(refusal, field);
  const waiting = [email !== null && !hasEmail ? email : [], slack !== null && !hasChat ? `${slack}/…` : []].flat();
  return html`${waiting.length === 0 ? '' : confirmation(visit, waiting, wrong('codigo'))}
    <form class="stack narrow" method="post" action="${PATH}">
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
      !hasEmail && !hasChat
        ? ''
        : html`<form method="post" action="${PATH}/teste">${formToken(visit)}<button>${t.webhooks.test}</button></form>`
    }`;
}

/** The code that came to these addresses; a link in the message fills it in. */
function confirmation(visit: Visit, waiting: readonly string[], wrong: Html | ''): Html {
  const { t, c } = visit;
  return html`<form class="card" method="post" action="${PATH}/confirmacao">
    ${formToken(visit)}
    <p>${t.alerts.waiting(waiting.join(', '))}</p>
    <p class="actions">
      ${input(t.alerts.code, 'codigo', c.req.query('codigo') ?? '', html`inputmode="numeric" maxlength="12" required ${VERBATIM} ${wrong}`)}
      <button class="primary">${t.alerts.confirm}</button>
    </p>
  </form>`;
}

function changes(visit: Visit, { mudancas }: AlertSettings): Html | '' {
  const { t } = visit;
  if (mudancas.length === 0) return '';
  return html`<h2>${t.alerts.changes}</h2>
    ${table(
      t.alerts.changes,
      [t.loans.at, t.alerts.author],
      mudancas.map(({ mudou_em: at, autor }) => [moment(visit, at), html`<span class="wrap">${autor}</span>`]),
    )}`;
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
