/** The credentials that a receiver's gateway demands: their names, and the form that sets them. No secret is shown again. */
import { html } from 'hono/html';
import { MAX_HEADERS, type ShownCredentials } from '../../contract/resources/webhook-credentials.ts';
import type { Refusal } from '../api-client.ts';
import type { Html, Visit } from '../env.ts';
import { confirmed, doOrLeave, input, postForm, select, tick, VERBATIM } from '../frame/forms.ts';
import { type Page, wrongField } from '../frame/page.ts';
import { code, fact, moment } from '../frame/parts.ts';

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
export function credentialsPart(visit: Visit, shown: ShownCredentials): Html {
  const { credentials: words } = visit.t;
  const { cabecalhos: names, autorizacao: auth, certificado: certificate } = shown;
  const isSet = names.length > 0 || auth !== null || certificate !== null;
  const path = `/painel/webhooks/${visit.id}/credenciais`;
  const wrap = (text: string | undefined) => html`<span class="wrap">${text ?? ''}</span>`;
  return html`<section aria-labelledby="credenciais">
    <h2 id="credenciais">${words.title}</h2>
    ${
      isSet
        ? html`<dl class="facts">
            ${names.length === 0 ? '' : fact(words.headers, html`${names.map((name) => html`${code(name)} `)}`)}
            ${auth && fact(words.authorization, html`${words.kinds[auth.tipo]} ${wrap(auth.token_url)}`)}
            ${certificate && fact(words.certificate, html`${wrap(certificate.assunto)}, ${words.until} ${moment(visit, certificate.valido_ate)}`)}
          </dl>`
        : html`<p>${words.none}</p>`
    }
    ${
      visit.mayWrite &&
      html`<div class="actions">
        <a class="button" href="${path}">${isSet ? words.replace : words.set}</a>
        ${isSet && confirmed(visit, `${path}/remover`, words.remove, words.removeConfirm)}
      </div>`
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
export function showCredentials(visit: Visit, given: URLSearchParams, refusal?: Refusal): Page {
  const { t, id } = visit;
  const { credentials: words } = t;
  const path = `/painel/webhooks/${id}`;
  const wrong = (name: string) => wrongField(refusal, name);
  const chosen = KINDS.find((known) => known === given.get('tipo')) ?? '';
  const fields = html`<fieldset class="kinds">
      <legend>${words.authorization}</legend>
      <p class="inline">
        ${['' as const, ...KINDS].map((kind) => tick(words.kinds[kind || 'none'], 'tipo', kind, kind === chosen, 'radio'))}
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
    ${doOrLeave(visit, t.webhooks.save, path)}`;
  return {
    title: words.title,
    refusal,
    body: html`<p>${words.intro}</p>
      ${postForm(visit, `${path}/credenciais`, fields, 'stack')}`,
  };
}

function field({ t }: Visit, name: string, given: URLSearchParams, wrong: Html | ''): Html {
  const { fields, sent } = t.credentials;
  const label = `${fields[name as keyof typeof fields]}${OPTIONAL.includes(name) ? ` (${t.credentials.optional})` : ''}`;
  if (name === 'envio') return select(label, name, given.get(name) ?? 'basic', Object.entries(sent));
  const type = SECRET.has(name) ? html`type="password"` : '';
  return input(label, name, SECRET.has(name) ? '' : (given.get(name) ?? ''), html`${type} ${VERBATIM} ${wrong}`);
}
