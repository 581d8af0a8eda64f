/** The sandbox: its parts to play, its clock, an inbox, and a loan that walks while one watches. */
import type { Context, Hono } from 'hono';
import type { WebhookResource } from '../../contract/resources/webhook.ts';
import { EMITTED_NAMES } from '../../contract/events.ts';
import { id as uuid } from '../../contract/values.ts';
import { requirePartner } from '../../http/auth/auth.ts';
import { notFound } from '../../http/api-error.ts';
import { readBytes } from '../../http/body/body.ts';
import { addressOf, type Answer, Refused } from '../api-client.ts';
import type { PainelDeps, PainelEnv, Visit } from '../env.ts';
import type { Guard } from '../frame/guard.ts';
import { PLAY } from '../frame/nav.ts';
import { callOf, newLoan, walkOn } from './acts.ts';
import { BEHAVIOURS, Inbox } from './inbox.ts';
import { showSandbox } from './show.ts';

const PATH = '/painel/sandbox';
const PAUSE_MS = 900;
const MAX_SECONDS = 366 * 24 * 60 * 60;

/** Returns what ends all that is held back or on its way. */
export function addSandboxPages(app: Hono<PainelEnv>, deps: PainelDeps, guard: Guard): () => void {
  const inbox = new Inbox(deps);
  app.post('/painel/caixa/:id', (c) => receive(c, inbox));
  guard.show(PATH, PLAY, (visit) => showSandbox(visit, inbox, visit.query('emprestimo').emprestimo));
  addActs(guard, inbox);
  const stopping = new AbortController();
  guard.act(`${PATH}/passeio`, PLAY, async (visit) => {
    const made = await visit.api.send<{ id: string }>(...newLoan());
    if (!made.ok) return back(visit, '', 'passeio_recusado');
    void walkOn(visit.api, made.body.id, PAUSE_MS, stopping.signal).catch((error: Error) =>
      deps.log.warn({ error: error.name }, 'a walk of the sandbox ended'),
    );
    return back(visit, made.body.id, 'passeio');
  });
  return () => {
    stopping.abort();
    inbox.close();
  };
}

function chosenLoan(given: string | null | undefined): string {
  const parsed = uuid.safeParse(given);
  return parsed.success ? parsed.data.toLowerCase() : '';
}

function back({ c }: Visit, emprestimo: string, feito: string): Response {
  return c.redirect(addressOf(PATH, { emprestimo, feito }), 303);
}

function addActs(guard: Guard, inbox: Inbox): void {
  guard.act(`${PATH}/acao`, PLAY, async (visit, form) => {
    const act = form.get('acao') ?? '';
    const loanId = chosenLoan(form.get('emprestimo'));
    const asked = Number(form.get('segundos') ?? '60');
    const seconds = Number.isSafeInteger(asked) ? Math.min(Math.max(asked, 1), MAX_SECONDS) : 60;
    const call = callOf(act, { loanId, seconds, month: form.get('competencia') ?? '' });
    if (call === undefined) throw notFound();
    const answer: Answer<{ id?: string }> = await visit.api.send(...call);
    if (!answer.ok) return showSandbox(visit, inbox, loanId, answer);
    return back(visit, act === 'emprestimo' ? (answer.body.id ?? '') : loanId, act);
  });
  guard.act(`${PATH}/caixa`, PLAY, async (visit) => {
    const { url, known } = await inboxOf(visit);
    if (known.length === 0) {
      const made = await visit.api.send('POST', '/v1/webhooks', { url, eventos: EMITTED_NAMES });
      if (!made.ok && made.status === 400) return showSandbox(visit, inbox, '', made);
      if (!made.ok) throw new Refused(made);
    }
    return back(visit, '', 'caixa');
  });
  guard.act(`${PATH}/comportamento`, PLAY, async (visit, form) => {
    const behaviour = BEHAVIOURS.find((known) => known === form.get('comportamento'));
    if (behaviour === undefined) throw notFound();
    inbox.behave(requirePartner(visit.session.identity), behaviour);
    // Nobody speaks TLS at this port, so an https URL of it fails in TLS.
    const { url, known } = await inboxOf(visit);
    const wanted = behaviour === 'tls' ? url.replace(/^http:/, 'https:') : url;
    for (const webhook of known.filter((one) => one.url !== wanted)) {
      const changed = await visit.api.send('PATCH', `/v1/webhooks/${webhook.id}`, { url: wanted });
      if (!changed.ok) throw new Refused(changed);
    }
    return back(visit, chosenLoan(form.get('emprestimo')), 'comportamento');
  });
}

/** The inbox's URL, and the webhooks that lead there. */
async function inboxOf({ c, api, session }: Visit) {
  const url = `${new URL(c.req.url).origin}/painel/caixa/${requirePartner(session.identity)}`;
  const webhooks = await api.read<WebhookResource[]>('/v1/webhooks');
  const known = webhooks.filter(
    (webhook) => webhook.url.replace(/^https:/, 'http:') === url.replace(/^https:/, 'http:'),
  );
  return { url, known };
}

/** What the poller sends; no session stands behind it. */
async function receive(c: Context<PainelEnv>, inbox: Inbox): Promise<Response> {
  const partnerId = uuid.safeParse(c.req.param('id'));
  if (!partnerId.success) throw notFound();
  const body = await readBytes(c.req);
  const status = await inbox.receive(partnerId.data.toLowerCase(), c.req.raw.headers, body);
  if (status === 0) c.env.incoming?.socket.resetAndDestroy();
  if (status === 302) return c.redirect('/painel', 302);
  // Where a proxy answers in the receiver's place, its page comes with 200.
  if (status === 200) return c.html('<!doctype html><title>Entre</title><p>Entre com a sua conta.</p>');
  return new Response(null, { status: status === 0 ? 500 : status });
}
