/** What the gateway before a receiver demands: shown by its names, and set in a form that never shows a secret again. */
import { html } from 'hono/html';
import { MAX_HEADERS, type ShownCredentials } from '../../contract/resources/webhook-credentials.ts';
import type { Refusal } from '../api-client.ts';
import type { Html, Visit } from '../env.ts';
import { choices, confirmed, formToken, input, select, VERBATIM } from '../frame/forms.ts';
import { answerPage } from '../frame/page.ts';
import { fact, moment } from '../frame/parts.ts';
import { refusalList, wrongField } from '../frame/refusals.ts';
import { pathId } from '../address.ts';

const KINDS = ['basic', 'bearer', 'oauth2'] as const;
/** Of each kind, the fields that may be left out. */
const OPTIONAL = ['escopo', 'audiencia'];
const FIELDS = {
  basic: ['usuario', 'senha'],
  bearer: ['token'],
  oauth2: ['token_url', 'client_id', 'client_secret', 'envio', ...OPTIONAL],
} as const satisfies Record<(typeof KINDS)[number], readonly string[]>;
const SECRET: ReadonlySet<string> = new Set(['senha', 'token', 'client_secret']);
const ROWS = Array.from({ length: MAX_HEADERS }, (_, index) => index + 1);

/** The body of `PUT …/credenciais` that a form's fields make; a field left empty is left out. */
export function credentialsIn(form: URLSearchParams): object {
  const text = (name: string) => form.get(name)?.trim() ?? '';
  const kind = KINDS.find((known) => known === text('tipo'));
  const headers = ROWS.map((row) => [text(`nome${row}`), text(`valor${row}`)] as const).filter(([name]) => name !== '');
  // What surrounds a pasted token or URL is no part of it; of a password it may be.
  const value = (name: string) => (name === 'senha' ? (form.get(name) ?? '') : text(name));
  const fields = kind === undefined ? [] : FIELDS[kind].map((name) => [name, value(name)] as const);
  const [pem, chave_pem] = [text('pem'), text('chave_pem')];
  return {
    ...(headers.length > 0 && { cabecalhos: Object.fromEntries(headers) }),
    ...(kind && { autorizacao: { tipo: kind, ...Object.fromEntries(fields.filter(([, value]) => value !== '')) } }),
    ...((pem || chave_pem) && { certificado: { pem, chave_pem } }),
  };
}

/** On the webhook's own page: what is set, and where it is changed. */
export function credentialsPart(visit: Visit, id: string, shown: ShownCredentials, mayWrite: boolean): Html {
  const { credentials: words } = visit.t;
  const { cabecalhos, autorizacao, certificado } = shown;
  const isSet = cabecalhos.length > 0 || autorizacao !== null || certificado !== null;
  const path = `/painel/webhooks/${id}/credenciais`;
  return html`<section aria-labelledby="credenciais">
    <h2 id="credenciais">${words.title}</h2>
    ${
      isSet
        ? html`<dl class="facts">
            ${cabecalhos.length === 0 ? '' : fact(words.headers, html`${cabecalhos.map((name) => html`<code>${name}</code> `)}`)}
            ${autorizacao === null ? '' : fact(words.authorization, html`${words.kinds[autorizacao.tipo]} <span class="wrap">${autorizacao.token_url ?? ''}</span>`)}
            ${certificado === null ? '' : fact(words.certificate, html`<span class="wrap">${certificado.assunto}</span>, ${words.until} ${moment(visit, certificado.valido_ate)}`)}
          </dl>`
        : html`<p>${words.none}</p>`
    }
    ${
      mayWrite
        ? html`<div class="actions">
            <a class="button" href="${path}">${isSet ? words.replace : words.set}</a>
            ${isSet ? confirmed(visit, `${path}/remover`, { label: words.remove, question: words.removeConfirm }) : ''}
          </div>`
        : ''
    }
  </section>`;
}

/** What is set, as the form's fields: all but secrets. */
export function fieldsOf({ cabecalhos, autorizacao }: ShownCredentials): URLSearchParams {
  const fields = new URLSearchParams();
  for (const [name, value] of Object.entries(autorizacao ?? {})) if (value !== undefined) fields.set(name, value);
  for (const [index, name] of cabecalhos.entries()) fields.set(`nome${index + 1}`, name);
  return fields;
}

/** The form; refused, it keeps what was written but for secrets. */
export function showCredentials(visit: Visit, given: URLSearchParams, refusal?: Refusal): Response | Promise<Response> {
  const { c, t } = visit;
  const { credentials: words } = t;
  const path = `/painel/webhooks/${pathId(c)}`;
  const wrong = (name: string) => wrongField(refusal, name);
  const chosen = KINDS.find((known) => known === given.get('tipo')) ?? '';
  return answerPage(c, {
    title: words.title,
    status: refusal?.status ?? 200,
    body: html`${refusal === undefined ? '' : refusalList(c, refusal.error)}
      <p>${words.intro}</p>
      <form class="stack" method="post" action="${path}/credenciais">
        ${formToken(visit)}
        <fieldset class="kinds">
          <legend>${words.authorization}</legend>
          <p class="inline">
            ${['' as const, ...KINDS].map((kind) => kindChoice(words.kinds[kind || 'none'], kind, chosen))}
          </p>
          ${KINDS.map((kind) => html`<div class="grid" data-kind="${kind}">${FIELDS[kind].map((name) => field(visit, name, given, wrong(`autorizacao.${name}`)))}</div>`)}
        </fieldset>
        <fieldset>
          <legend>${words.headers}</legend>
          ${ROWS.map(
            (row) =>
              html`<div class="grid">
                ${input(`${words.name} ${row}`, `nome${row}`, given.get(`nome${row}`) ?? '', html`${VERBATIM} ${wrong('cabecalhos')}`)}
                ${input(`${words.value} ${row}`, `valor${row}`, '', html`type="password" ${VERBATIM} ${wrong('cabecalhos')}`)}
              </div>`,
          )}
        </fieldset>
        <fieldset>
          <legend>${words.certificate}</legend>
          <p class="dim">${words.certificateHint}</p>
          <label for="pem">${words.pem}</label>
          <textarea id="pem" name="pem" rows="4" ${VERBATIM} ${wrong('certificado.pem')}>
${given.get('pem') ?? ''}</textarea>
          <label for="chave_pem">${words.key}</label>
          <textarea id="chave_pem" name="chave_pem" rows="4" ${VERBATIM} ${wrong('certificado.chave_pem')}></textarea>
        </fieldset>
        <p class="actions">
          <button class="primary">${t.webhooks.save}</button>
          <a class="button" href="${path}">${t.words.cancel}</a>
        </p>
      </form>`,
  });
}

function kindChoice(label: string, value: string, chosen: string): Html {
  return html`<label
    ><input type="radio" name="tipo" value="${value}" ${value === chosen ? html`checked` : ''} /> ${label}</label
  >`;
}

function field({ t }: Visit, name: string, given: URLSearchParams, wrong: Html | ''): Html {
  const { fields, sent } = t.credentials;
  const label = `${fields[name as keyof typeof fields]}${OPTIONAL.includes(name) ? ` (${t.credentials.optional})` : ''}`;
  if (name === 'envio') return select(label, name, choices(given.get(name) ?? 'basic', Object.entries(sent)));
  const type = SECRET.has(name) ? html`type="password"` : '';
  return input(label, name, SECRET.has(name) ? '' : (given.get(name) ?? ''), html`${type} ${VERBATIM} ${wrong}`);
}
