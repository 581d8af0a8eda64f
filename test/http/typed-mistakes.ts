/** Mistakes that the types of the description refuse: each `@ts-expect-error` is an error itself if its line compiles. */
import type { PartnerClient, WebhookBody } from './typed-partner.ts';

/** A mistyped event, and its answer had the compiler let it pass. */
export async function refusedRegistration(client: PartnerClient, url: string) {
  const { error, response } = await client.POST('/v1/webhooks', {
    // @ts-expect-error an event that does not exist
    body: { url, eventos: ['averbacao.conclluida'] },
  });
  // @ts-expect-error a code that this operation never answers
  if (error?.codigo === 'MARGEM_NEGOCIAL') throw new Error('impossible');
  return { status: response.status, code: error?.codigo, field: error?.detalhes?.[0]?.campo };
}

export function neverSent(body: string): boolean {
  const { evento } = JSON.parse(body) as WebhookBody;
  // @ts-expect-error a name that is reserved
  return evento === 'repasse.pago';
}
