/** The webhooks' routes: listed with their health, made, changed, tried out, given another secret, switched off and on. */
import type { createdWebhook, rotatedSecret, WebhookResource } from '../../contract/resources/webhook.ts';
import type { ShownCredentials } from '../../contract/resources/webhook-credentials.ts';
import { html } from 'hono/html';
import type { z } from 'zod';
import type { Refusal } from '../api-client.ts';
import type { Visit } from '../env.ts';
import { type Guard, settle } from '../frame/guard.ts';
import { READ, WRITE } from '../frame/nav.ts';
import type { Page } from '../frame/page.ts';
import { copyable, moment, notice } from '../frame/parts.ts';
import { runPath, showConformance } from './conformance.ts';
import { credentialsIn, fieldsOf, showCredentials } from './credentials.ts';
import { showForm } from './form.ts';
import { showWebhooks } from './list.ts';
import { showWebhook, WAITS_H } from './one.ts';
import { goOn, showRecovery } from './recover.ts';
import { sendTest, showTest } from './try-out.ts';

const HOUR_MS = 3_600_000;
const PATH = '/painel/webhooks';
const ONE = `${PATH}/:id`;

export function addWebhookPages(guard: Guard): void {
  guard.show(PATH, READ, showWebhooks);
  guard.show(`${PATH}/novo`, WRITE, (visit) => showForm(visit, { url: '', eventos: [] }));
  guard.act(PATH, WRITE, async (visit, form) => {
    const wanted = wantedIn(form);
    const answer = await visit.api.send<Made>('POST', '/v1/webhooks', wanted, onceOf(form));
    return answer.ok ? showSecret(visit, answer.body) : showForm(visit, wanted, answer);
  });
  guard.show(ONE, READ, (visit) => showWebhook(visit));
  guard.show(`${ONE}/editar`, WRITE, async (visit) =>
    showForm(visit, await visit.api.read<WebhookResource>(`/v1/webhooks/${visit.id}`)),
  );
  guard.act(`${ONE}/editar`, WRITE, async (visit, form) => {
    const wanted = wantedIn(form);
    const answer = await visit.api.send('PATCH', `/v1/webhooks/${visit.id}`, wanted);
    return settle(visit, answer, `${PATH}/${visit.id}`, 'alterado', (refusal) => showForm(visit, wanted, refusal));
  });
  guard.show(`${ONE}/recuperar`, WRITE, showRecovery);
  guard.act(`${ONE}/recuperar`, WRITE, goOn);
  guard.show(`${ONE}/teste`, WRITE, (visit) => showTest(visit, visit.query('evento').evento));
  guard.act(`${ONE}/teste`, WRITE, sendTest);
  guard.act(`${ONE}/homologacao`, WRITE, async (visit) => {
    const { id, c } = visit;
    const answer = await visit.api.send<{ homologacao_id: string }>('POST', `/v1/webhooks/${id}/homologacao`, {});
    return answer.ok ? c.redirect(runPath(id, answer.body.homologacao_id), 303) : showWebhook(visit, answer);
  });
  guard.show(`${ONE}/homologacao/:hid`, READ, showConformance);
  guard.show(`${ONE}/homologacao/:hid/relatorio`, READ, ({ api, c, id }) =>
    api.pass(`/v1/webhooks/${id}/homologacao/${encodeURIComponent(c.req.param('hid') ?? '')}/relatorio`),
  );
  guard.show(`${ONE}/credenciais`, WRITE, async (visit) => {
    const set = await visit.api.read<ShownCredentials>(`/v1/webhooks/${visit.id}/credenciais`);
    return showCredentials(visit, fieldsOf(set));
  });
  guard.act(`${ONE}/credenciais`, WRITE, async (visit, form) => {
    const answer = await visit.api.send('PUT', `/v1/webhooks/${visit.id}/credenciais`, credentialsIn(form));
    const again = (refusal: Refusal) => showCredentials(visit, form, refusal);
    return settle(visit, answer, `${PATH}/${visit.id}`, 'credenciais', again);
  });
  for (const [act, { done, call }] of Object.entries(ACTS)) {
    guard.act(`${ONE}/${act}`, WRITE, async (visit, form) => {
      const [method, rest, body] = call(form);
      const answer = await visit.api.send(method, `/v1/webhooks/${visit.id}${rest}`, body);
      return settle(visit, answer, `${PATH}/${visit.id}`, done, (refusal) => showWebhook(visit, refusal));
    });
  }
  guard.act(`${ONE}/segredo`, WRITE, async (visit, form) => {
    const hours = WAITS_H.find((wait) => String(wait) === form.get('horas')) ?? 0;
    const wanted = hours > 0 ? { vale_em: new Date(Date.now() + hours * HOUR_MS).toISOString() } : {};
    const answer = await visit.api.send<Made>('POST', `/v1/webhooks/${visit.id}/segredo`, wanted, onceOf(form));
    return answer.ok ? showSecret(visit, answer.body) : showWebhook(visit, answer);
  });
}

const wantedIn = (form: URLSearchParams) => ({ url: form.get('url')?.trim() ?? '', eventos: form.getAll('eventos') });

/** The form's own key, as a header can carry whatever was sent: sent twice, it makes one webhook, or one secret. */
const onceOf = (form: URLSearchParams) => ({ 'Idempotency-Key': encodeURIComponent(form.get('chave') ?? '') });

type Call = readonly [method: string, rest: string, body?: unknown];

/** What one call of the API does to a webhook, and the word of what was done. */
const ACTS: Readonly<Record<string, { done: string; call: (form: URLSearchParams) => Call }>> = {
  desativar: { done: 'desativado', call: () => ['DELETE', ''] },
  reativar: {
    done: 'reativado',
    call: (form) => ['PATCH', '', { ativo: true, ...(form.has('retomar') && { retomar: true }) }],
  },
  ordem: { done: 'ordem', call: (form) => ['PUT', '/opcoes', { ordem: form.get('ordem') ?? '' }] },
  rotulo: { done: 'rotulado', call: (form) => ['PUT', '/opcoes', { rotulo: form.get('rotulo')?.trim() || null }] },
  'credenciais/remover': { done: 'credenciais', call: () => ['DELETE', '/credenciais'] },
  'segredo/ativar': { done: 'ativado', call: () => ['POST', '/segredo/ativar'] },
  'segredo/descartar': { done: 'descartado', call: () => ['DELETE', '/segredo/novo'] },
  'segredo/encerrar': { done: 'encerrado', call: () => ['DELETE', '/segredo/anterior'] },
};

type Made = z.infer<typeof createdWebhook> | z.infer<typeof rotatedSecret>;

/** The one page that shows a secret, right after it was made; of a form that is sent again later it is absent. */
function showSecret(visit: Visit, made: Made): Page {
  const { t } = visit;
  const { secretTitle, secretGone, secretOnce, signsFrom, previousUntil, toWebhook } = t.webhooks;
  const { vale_em: from, anterior_ate: until } = 'vale_em' in made ? made : { vale_em: null, anterior_ate: null };
  return {
    title: secretTitle,
    body: html`${
        made.secret === undefined
          ? notice('failed', secretGone)
          : html`<p>${secretOnce}</p>
              ${copyable(t, 'secret', secretTitle, made.secret)}`
      }
      ${from && html`<p>${signsFrom} ${moment(visit, from)}</p>`}
      ${until && html`<p>${previousUntil} ${moment(visit, until)}</p>`}
      <p><a class="button" href="${PATH}/${made.id}">${toWebhook}</a></p>`,
  };
}
