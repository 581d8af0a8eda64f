/** Alerts: the e-mail address and the chat that get them, and the newest ones. */
import { html } from 'hono/html';
import type { AlertSettings } from '../../contract/resources/alerts.ts';
import type { Answer, Refusal } from '../api-client.ts';
import type { Html, Visit } from '../env.ts';
import { input, postForm, tick, VERBATIM } from '../frame/forms.ts';
import { type Guard, settle } from '../frame/guard.ts';
import { READ, WRITE } from '../frame/nav.ts';
import { type Page, wrongField } from '../frame/page.ts';
import { badge, code, moment, shortId, table } from '../frame/parts.ts';

const PATH = '/painel/avisos';
const DISABLED = html`disabled`;

export function addAlertPages(guard: Guard): void {
  const settled = (visit: Visit, answer: Answer<AlertSettings>, done: string) =>
    settle(visit, answer, PATH, done, (refusal) => show(visit, refusal));
  guard.show(PATH, READ, (visit) => show(visit));
  guard.act(PATH, WRITE, async (visit, form) => {
    const [email = '', url = ''] = ['email', 'slack_url'].map((name) => form.get(name)?.trim());
    const chat = form.has('sem_chat') ? { slack_url: null } : { ...(url && { slack_url: url }) };
    const wanted = { email: email || null, ...chat };
    return settled(visit, await visit.api.send('PUT', '/v1/alertas', wanted), 'salvo');
  });
  guard.act(`${PATH}/confirmacao`, WRITE, async (visit, form) => {
    const codigo = form.get('codigo')?.replaceAll(/\s/g, '') ?? '';
    return settled(visit, await visit.api.send('POST', '/v1/alertas/confirmacao', { codigo }), 'confirmado');
  });
  guard.act(`${PATH}/teste`, WRITE, async (visit) =>
    settled(visit, await visit.api.send('POST', '/v1/alertas/teste'), 'teste'),
  );
}

async function show(visit: Visit, refusal?: Refusal): Promise<Page> {
  const { t, api, mayWrite } = visit;
  const settings = await api.read<AlertSettings>('/v1/alertas');
  return {
    title: t.alerts.title,
    refusal,
    done: t.alerts.done,
    body: html`<p>${t.alerts.intro}</p>
      ${mayWrite && form(visit, settings, refusal)} ${alertTable(visit, settings)} ${changes(visit, settings)}`,
  };
}

function form(visit: Visit, settings: AlertSettings, refusal?: Refusal): Html {
  const { email, slack, email_disponivel: hasMail, email_confirmado: hasEmail, slack_confirmado: hasChat } = settings;
  const { t } = visit;
  const wrong = (field: string) => wrongField(refusal, field);
  const waiting = [email !== null && !hasEmail ? email : [], slack !== null && !hasChat ? `${slack}/…` : []].flat();
  const fields = html`<label for="email">${t.alerts.email}</label>
    <input id="email" name="email" type="email" value="${email ?? ''}" ${wrong('email')} ${hasMail ? '' : DISABLED} />
    ${hasMail ? '' : html`<p class="dim">${t.alerts.noMail}</p>`}
    <label for="slack_url">${t.alerts.slack}</label>
    <input id="slack_url" name="slack_url" type="url" ${VERBATIM} ${wrong('slack_url')} aria-describedby="slack-dica" />
    <p id="slack-dica" class="dim">${slack === null ? t.alerts.slackHint : t.alerts.slackNow(slack)}</p>
    ${slack === null ? '' : tick(t.alerts.noChat, 'sem_chat', 'on', false)}
    <button class="primary">${t.webhooks.save}</button>`;
  return html`${waiting.length === 0 ? '' : confirmation(visit, waiting, wrong('codigo'))}
  ${postForm(visit, PATH, fields, 'stack narrow')}
  ${(hasEmail || hasChat) && postForm(visit, `${PATH}/teste`, html`<button>${t.webhooks.test}</button>`)}`;
}

/** The code that came to these addresses; a link in the message fills it in. */
function confirmation(visit: Visit, waiting: readonly string[], wrong: Html | ''): Html {
  const { t } = visit;
  const kind = html`inputmode="numeric" maxlength="12" required ${VERBATIM} ${wrong}`;
  const fields = html`<p>${t.alerts.waiting(waiting.join(', '))}</p>
    <p class="actions">
      ${input(t.alerts.code, 'codigo', visit.query('codigo').codigo, kind)}
      <button class="primary">${t.alerts.confirm}</button>
    </p>`;
  return postForm(visit, `${PATH}/confirmacao`, fields, 'card');
}

function changes(visit: Visit, { mudancas }: AlertSettings): Html | '' {
  const { t } = visit;
  if (mudancas.length === 0) return '';
  const rows = mudancas.map(({ mudou_em: at, autor }) => [moment(visit, at), html`<span class="wrap">${autor}</span>`]);
  return html`<h2>${t.alerts.changes}</h2>
    ${table(t.alerts.changes, [t.loans.at, t.alerts.author], rows)}`;
}

function alertTable(visit: Visit, { avisos }: AlertSettings): Html | '' {
  const { t } = visit;
  if (avisos.length === 0) return '';
  return html`<h2>${t.alerts.newest}</h2>
    ${table(
      t.alerts.newest,
      [t.loans.at, t.alerts.kind, t.deliveries.webhook, t.alerts.channel, t.deliveries.status],
      avisos.map(({ tipo, canal, webhook_id: id, criado_em, enviado_em, erro, tentativas }) => [
        moment(visit, criado_em),
        code(tipo),
        id === null ? '–' : html`<a href="/painel/webhooks/${id}">${shortId(id)}</a>`,
        canal,
        enviado_em === null
          ? html`${badge(erro ?? t.status.pendente, erro === null ? 'pendente' : 'erro')} ${tentativas}`
          : badge(t.status.entregue, 'entregue'),
      ]),
    )}`;
}
