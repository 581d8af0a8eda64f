/** The webhooks' routes: listed with their health, made, changed, tried out, given another secret, switched off and on. */
import type { createdWebhook, rotatedSecret, WebhookResource } from '../../contract/resources/webhook.ts';
import type { ShownCredentials } from '../../contract/resources/webhook-credentials.ts';
import { html } from 'hono/html';
import type { z } from 'zod';
import { type Answer, Refused } from '../api-client.ts';
import type { Visit } from '../env.ts';
import type { Guard } from '../frame/guard.ts';
import { READ, WRITE } from '../frame/nav.ts';
import { answerPage } from '../frame/page.ts';
import { copyable, moment, notice } from '../frame/parts.ts';
import type { Streams } from '../live.ts';
import { openPulse } from '../overview/pulse.ts';
import { pathId } from '../address.ts';
import { runPath, showConformance } from './conformance.ts';
import { credentialsIn, fieldsOf, showCredentials } from './credentials.ts';
import { showForm } from './form.ts';
import { showWebhooks } from './list.ts';
import { showWebhook } from './one.ts';
import { goOn, showRecovery } from './recover.ts';
import { sendTest, showTest } from './try-out.ts';

const HOUR_MS = 3_600_000;

export function addWebhookPages(guard: Guard, streams: Streams): void {
  guard.show('/painel/webhooks', READ, showWebhooks);
  guard.show('/painel/webhooks/novo', WRITE, (visit) => showForm(visit, {}));
  guard.act('/painel/webhooks', WRITE, async (visit, form) => {
    const wanted = { url: form.get('url')?.trim() ?? '', eventos: form.getAll('eventos') };
    // The form's own key: sent twice, it makes one webhook.
    const key = { 'Idempotency-Key': form.get('chave') ?? '' };
    const answer = await visit.api.send<z.infer<typeof createdWebhook>>('POST', '/v1/webhooks', wanted, key);
    return answer.ok ? showSecret(visit, answer.body) : showForm(visit, { wanted, refusal: answer });
  });
  guard.show('/painel/webhooks/:id', READ, (visit) => showWebhook(visit, pathId(visit.c)));
  guard.show('/painel/webhooks/:id/editar', WRITE, async (visit) => {
    const webhook = await visit.api.read<WebhookResource>(`/v1/webhooks/${pathId(visit.c)}`);
    return showForm(visit, { id: webhook.id, wanted: webhook });
  });
  guard.show('/painel/webhooks/:id/ao-vivo', READ, (visit) => openPulse(streams, visit, pathId(visit.c)));
  guard.show('/painel/webhooks/:id/recuperar', WRITE, showRecovery);
  guard.act('/painel/webhooks/:id/recuperar', WRITE, goOn);
  guard.show('/painel/webhooks/:id/teste', WRITE, (visit) => showTest(visit, visit.c.req.query('evento') ?? '', {}));
  guard.act('/painel/webhooks/:id/teste', WRITE, sendTest);
  guard.act('/painel/webhooks/:id/homologacao', WRITE, async (visit) => {
    const id = pathId(visit.c);
    const answer = await visit.api.send<{ homologacao_id: string }>('POST', `/v1/webhooks/${id}/homologacao`, {});
    return answer.ok ? visit.c.redirect(runPath(id, answer.body.homologacao_id), 303) : settle(visit, answer, '');
  });
  guard.show('/painel/webhooks/:id/homologacao/:hid', READ, showConformance);
  guard.show('/painel/webhooks/:id/homologacao/:hid/relatorio', READ, ({ api, c }) =>
    api.pass(`/v1/webhooks/${pathId(c)}/homologacao/${encodeURIComponent(c.req.param('hid') ?? '')}/relatorio`),
  );
  guard.act('/painel/webhooks/:id/editar', WRITE, async (visit, form) => {
    const id = pathId(visit.c);
    const wanted = { url: form.get('url')?.trim() ?? '', eventos: form.getAll('eventos') };
    const answer = await visit.api.send('PATCH', `/v1/webhooks/${id}`, wanted);
    if (!answer.ok && answer.status === 400) return showForm(visit, { id, wanted, refusal: answer });
    return settle(visit, answer, 'alterado');
  });
  guard.show('/painel/webhooks/:id/credenciais', WRITE, async (visit) =>
    showCredentials(
      visit,
      fieldsOf(await visit.api.read<ShownCredentials>(`/v1/webhooks/${pathId(visit.c)}/credenciais`)),
    ),
  );
  guard.act('/painel/webhooks/:id/credenciais', WRITE, async (visit, form) => {
    const answer = await visit.api.send('PUT', `/v1/webhooks/${pathId(visit.c)}/credenciais`, credentialsIn(form));
    return !answer.ok && answer.status === 400
      ? showCredentials(visit, form, answer)
      : settle(visit, answer, 'credenciais');
  });
  for (const [act, { done, call }] of Object.entries(ACTS)) {
    guard.act(`/painel/webhooks/:id/${act}`, WRITE, async (visit, form) => {
      const [method, rest, body] = call(form);
      return settle(visit, await visit.api.send(method, `/v1/webhooks/${pathId(visit.c)}${rest}`, body), done);
    });
  }
  guard.act('/painel/webhooks/:id/segredo', WRITE, async (visit, form) => {
    const id = pathId(visit.c);
    const hours = Number(form.get('horas') ?? '0');
    const wanted = hours > 0 ? { vale_em: new Date(Date.now() + hours * HOUR_MS).toISOString() } : {};
    const key = { 'Idempotency-Key': form.get('chave') ?? '' };
    const answer = await visit.api.send<z.infer<typeof rotatedSecret>>(
      'POST',
      `/v1/webhooks/${id}/segredo`,
      wanted,
      key,
    );
    return answer.ok ? showSecret(visit, answer.body) : settle(visit, answer, '');
  });
}

/** Back to the webhook with what was done; a refusal is told on its page. */
async function settle<T>(visit: Visit, answer: Answer<T>, done: string): Promise<Response> {
  const id = pathId(visit.c);
  if (answer.ok) return visit.c.redirect(`/painel/webhooks/${id}?feito=${done}`, 303);
  if (answer.status !== 409 && answer.status !== 400 && answer.status !== 503) throw new Refused(answer);
  return showWebhook(visit, id, answer);
}

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

interface Made {
  readonly id: string;
  /** Absent when the form was sent again later. */
  readonly secret?: string | undefined;
  readonly vale_em?: string;
  readonly anterior_ate?: string;
}

/** The one page that shows a secret, right after it was made. */
async function showSecret(visit: Visit, { id, secret, vale_em: from, anterior_ate: until }: Made): Promise<Response> {
  const { c, t } = visit;
  return answerPage(c, {
    title: t.webhooks.secretTitle,
    body: html`${
        secret === undefined
          ? notice('failed', t.webhooks.secretGone)
          : html`<p>${t.webhooks.secretOnce}</p>
              ${copyable(t, 'secret', t.webhooks.secretTitle, secret)}`
      }
      ${from === undefined ? '' : html`<p>${t.webhooks.signsFrom} ${moment(visit, from)}</p>`}
      ${until === undefined ? '' : html`<p>${t.webhooks.previousUntil} ${moment(visit, until)}</p>`}
      <p><a class="button" href="/painel/webhooks/${id}">${t.webhooks.toWebhook}</a></p>`,
  });
}
