/** The check that every other test's answers pass through, shown to refuse what the description does not tell. */
import { expect, test } from 'vitest';
import { createBareApp, describedBy } from '../support/bare-app.ts';
import { describedAnswers } from '../support/described-answers.ts';

const described = describedAnswers(await describedBy(createBareApp()));

const ID = '019a6e0b-7f3c-7d52-9a41-5c1d2e3f4a5b';
const WEBHOOK = {
  id: ID,
  url: 'https://a.example',
  eventos: ['margem.falhou'],
  ativo: true,
  criado_em: '2026-01-31T12:00:00.000Z',
};
const NOSNIFF = { 'X-Content-Type-Options': 'nosniff' };
const CHALLENGE = { 'WWW-Authenticate': 'Bearer' };
const refusal = (codigo: string) => ({ codigo, mensagem: 'não', requisicao_id: ID });

function check(
  method: string,
  path: string,
  status: number,
  body: unknown,
  more: Record<string, string> = {},
): () => void {
  const headers = new Headers({ 'Content-Type': 'application/json', 'X-Request-Id': ID, ...NOSNIFF, ...more });
  return () => described.check(method, path, { status, headers, text: JSON.stringify(body) });
}

test('what the description tells passes', () => {
  expect(check('GET', '/v1/webhooks', 200, [WEBHOOK])).not.toThrow();
  expect(check('GET', '/v1/webhooks', 401, refusal('CREDENCIAL_INVALIDA'), CHALLENGE)).not.toThrow();
  expect(check('GET', '/v1/nada', 404, refusal('NAO_ENCONTRADO'))).not.toThrow();
  expect(check('PUT', '/v1/webhooks', 405, refusal('METODO_NAO_PERMITIDO'), { Allow: 'GET' })).not.toThrow();
  expect(check('HEAD', '/v1/webhooks', 200, '')).not.toThrow();
  expect(check('GET', '/docs/nada', 404, refusal('NAO_ENCONTRADO'))).not.toThrow();
});

test.each([
  ['a status', check('GET', '/v1/webhooks', 409, refusal('TRANSICAO_INVALIDA')), /no such status/],
  ['a code of another status', check('GET', '/v1/webhooks', 401, refusal('NAO_ENCONTRADO'), CHALLENGE), /codigo/],
  ['a field', check('GET', '/v1/webhooks', 200, [{ ...WEBHOOK, secret: 's' }]), /secret/],
  ['a missing field', check('GET', '/v1/webhooks', 200, [{ ...WEBHOOK, url: undefined }]), /url/],
  ['a value', check('GET', '/v1/webhooks', 200, [{ ...WEBHOOK, eventos: ['repasse.pago'] }]), /eventos/],
  ['a media type', check('GET', '/v1/webhooks', 200, [WEBHOOK], { 'Content-Type': 'text/html' }), /text\/html/],
  [
    'an answer open to sniffing',
    check('GET', '/v1/webhooks', 200, [WEBHOOK], { 'X-Content-Type-Options': '' }),
    /nosniff/,
  ],
  ['a missing header', check('GET', '/v1/webhooks', 401, refusal('CREDENCIAL_INVALIDA')), /WWW-Authenticate/],
  ['a header', check('GET', '/v1/webhooks', 200, [WEBHOOK], { ETag: '"a"' }), /etag/],
  ['a header’s value', check('GET', '/v1/webhooks', 200, [WEBHOOK], { 'X-Request-Id': 'a' }), /X-Request-Id/],
  ['a refusal without Allow', check('PUT', '/v1/webhooks', 405, refusal('METODO_NAO_PERMITIDO')), /Allow/],
  ['a status of HEAD', check('HEAD', '/v1/webhooks', 409, ''), /no such status/],
  ['a refusal beside the interface', check('GET', '/docs/nada', 404, {}), /codigo/],
  ['an answer of an unknown path', check('GET', '/v1/nada', 200, {}), /no such path/],
  ['an answer of an unknown method', check('PUT', '/v1/webhooks', 200, {}), /no such path/],
])('%s that it does not tell fails', (_what, answer, message) => {
  expect(answer).toThrow(message);
});

test('what cannot be read as a request is held to the shape of every refusal', () => {
  const headers = new Headers({ 'X-Request-Id': ID, ...NOSNIFF });
  const unread = (status: number, body: object) => () =>
    described.checkUnread({ status, headers, text: JSON.stringify(body) });
  expect(unread(400, refusal('ERRO_VALIDACAO'))).not.toThrow();
  expect(unread(500, refusal('ERRO_VALIDACAO'))).toThrow(/400/);
  expect(unread(400, refusal('ERRO_INTERNO'))).toThrow(/ERRO_INTERNO/);
  expect(unread(400, { codigo: 'ERRO_VALIDACAO' })).toThrow(/mensagem/);
});

test('a webhook is held to its headers and its payload', () => {
  const data = { emprestimo_id: ID, motivo: 'recusado' };
  const body = { evento: 'emprestimo.emissao_falhou', timestamp: '2026-01-31T12:00:00.000Z', parceiro_id: ID, data };
  const signature = { 'x-webhook-signature': `sha256=${'0'.repeat(64)}`, 'webhook-signature': `v1,${'A'.repeat(43)}=` };
  const headers = {
    ...signature,
    'x-webhook-delivery': ID,
    'webhook-id': ID,
    'webhook-timestamp': '1769860800',
    'user-agent': 'Carteiro/0.2.0',
  };
  const named = { ...headers, 'x-webhook-event': body.evento };
  const post = (sent: object, given: object) => () => described.checkWebhook(body.evento, { ...sent }, given);
  expect(post(named, body)).not.toThrow();
  expect(post(headers, body)).toThrow(/X-Webhook-Event/);
  expect(post({ ...named, 'x-webhook-loan-version': '0' }, body)).toThrow(/X-Webhook-Loan-Version/);
  expect(post(named, { ...body, data: { ...data, motivo: 1 } })).toThrow(/data.motivo/);
});
