/**
 * A partner's program on openapi-fetch and the types made from the description: a request or an answer that the
 * description does not tell does not compile. It imports nothing of ours, as a partner cannot.
 */
import createClient, { type Client } from 'openapi-fetch';
import type { components, paths, webhooks } from './generated/openapi.ts';

type Loan = components['schemas']['Emprestimo'];
type WebhookBody = {
  [Name in keyof webhooks]: webhooks[Name]['post']['requestBody']['content']['application/json'];
}[keyof webhooks];
export type PartnerClient = Client<paths>;

export interface Connection {
  readonly baseUrl: string;
  readonly token: string;
}

export function connect({ baseUrl, token }: Connection): PartnerClient {
  return createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${token}` } });
}

/** Registers a webhook and finds it in the list. */
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

/** What a mistyped event is answered, had the compiler let it pass. */
export async function refusedRegistration(client: PartnerClient, url: string) {
  const { error, response } = await client.POST('/v1/webhooks', {
    // @ts-expect-error an event that does not exist
    body: { url, eventos: ['averbacao.conclluida'] },
  });
  // @ts-expect-error a code that this operation never answers
  if (error?.codigo === 'MARGEM_NEGOCIAL') throw new Error('impossible');
  return { status: response.status, code: error?.codigo, field: error?.detalhes?.[0]?.campo };
}

/** Issues a loan and has it signed; the registration and the transfer follow. */
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

export async function sign(client: PartnerClient, id: string): Promise<Loan | undefined> {
  return (await client.POST('/v1/sandbox/emprestimos/{id}/assinatura', { params: { path: { id } } })).data;
}

export async function requestRegistration(client: PartnerClient, id: string) {
  return (await client.POST('/v1/emprestimos/{id}/averbacao', { params: { path: { id } } })).data?.status;
}

export async function settle(client: PartnerClient, id: string): Promise<Loan | undefined> {
  const params = { path: { id } };
  return (await client.POST('/v1/sandbox/emprestimos/{id}/desembolso', { params, body: { resultado: 'liquidado' } }))
    .data;
}

/** The loan as it is, or right after its n-th event. */
export async function read(client: PartnerClient, id: string, version?: number): Promise<Loan | undefined> {
  const query = version === undefined ? {} : { versao: version };
  return (await client.GET('/v1/emprestimos/{id}', { params: { path: { id }, query } })).data;
}

/** What the partner's receiver makes of a body whose signature it has verified: `evento` tells which fields are there. */
export function received(body: string): string {
  const { evento, data } = JSON.parse(body) as WebhookBody;
  if (evento === 'desembolso.liquidado') return `${data.emprestimo_id}: R$ ${data.valor_liberado.toFixed(2)}`;
  // @ts-expect-error a name that is never sent
  if (evento === 'repasse.pago') throw new Error('impossible');
  return evento;
}
