/**
 * A partner's program, typed by the description alone. To begin your own: make the types, and import them as here.
 *
 *   npx openapi-typescript@7 http://127.0.0.1:3000/openapi.json -o carteiro.ts && npm install openapi-fetch
 *
 * Paths, bodies, answers, refusals and the webhooks themselves are typed, so a mistyped field or event does not compile
 * (typed-mistakes.ts has such mistakes). The only import from this repository is the generated types.
 */
import createClient, { type Client } from 'openapi-fetch';
import type { components, paths, webhooks } from './generated/openapi.ts';

export type PartnerClient = Client<paths>;
type Loan = components['schemas']['Emprestimo'];

/** Any event as it is received. */
export type WebhookBody = {
  [Name in keyof webhooks]: webhooks[Name]['post']['requestBody']['content']['application/json'];
}[keyof webhooks];

/** The API at `baseUrl` (`https://api.example.com`), with a partner's `token`. */
export function connect({ baseUrl, token }: { baseUrl: string; token: string }): PartnerClient {
  return createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${token}` } });
}

/** Registers a webhook and finds it in the list. Keep the secret: no other answer shows it. */
export async function register(
  client: PartnerClient,
  url: string,
): Promise<{ id: string; secret: string | undefined }> {
  const { data: created, error } = await client.POST('/v1/webhooks', {
    body: { url, eventos: ['averbacao.concluida', 'desembolso.liquidado'] },
  });
  if (error) throw new Error(`${error.codigo}: ${error.mensagem}`);
  const { data: list = [] } = await client.GET('/v1/webhooks');
  const found = list.find(({ id }) => id === created.id);
  if (found === undefined) throw new Error('the webhook is not in the list');
  return { id: found.id, secret: created.secret };
}

/** Issues a loan. The same `key` with the same body answers the same loan, so the call can be repeated. */
export async function issue(client: PartnerClient, key: string): Promise<Loan> {
  const { data, error } = await client.POST('/v1/emprestimos', {
    params: { header: { 'Idempotency-Key': key } },
    body: {
      cpf_trabalhador: '52998224725',
      nome_trabalhador: 'Maria da Silva',
      matricula: 'M-1',
      cnpj_empregador: '11222333000181',
      valor_liberado: 1234.5,
      numero_parcelas: 12,
      valor_parcela: 120.05,
    },
  });
  if (error) throw new Error(error.mensagem);
  return data;
}

/** In the sandbox the partner plays the signing provider. */
export async function sign(client: PartnerClient, id: string): Promise<Loan | undefined> {
  return (await client.POST('/v1/sandbox/emprestimos/{id}/assinatura', { params: { path: { id } } })).data;
}

/** Asks for the averbação; its webhook tells how it ended. */
export async function requestRegistration(client: PartnerClient, id: string) {
  return (await client.POST('/v1/emprestimos/{id}/averbacao', { params: { path: { id } } })).data?.status;
}

/** In the sandbox the partner plays the bank. */
export async function settle(client: PartnerClient, id: string): Promise<Loan | undefined> {
  const params = { path: { id } };
  return (await client.POST('/v1/sandbox/emprestimos/{id}/desembolso', { params, body: { resultado: 'liquidado' } }))
    .data;
}

/** The loan as it is, or as it was right after its n-th event. */
export async function read(client: PartnerClient, id: string, version?: number): Promise<Loan | undefined> {
  const query = version === undefined ? {} : { versao: version };
  return (await client.GET('/v1/emprestimos/{id}', { params: { path: { id }, query } })).data;
}

/** Reads a body whose signature was verified (src/http/receivers/carteiro.ts): `evento` tells which fields are there. */
export function received(body: string): string {
  const { evento, data } = JSON.parse(body) as WebhookBody;
  if (evento === 'desembolso.liquidado') return `${data.emprestimo_id}: R$ ${data.valor_liberado.toFixed(2)}`;
  return evento;
}
