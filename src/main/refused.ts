/** Texts of refusals and missing things for operators; contract/refusals.ts has the partner's. */
import type { RefusalKind, RefusalOf, Result } from '../contract/refusals.ts';
import { Refusal } from './command.ts';

type Subject = 'partner' | 'webhook' | 'delivery' | 'worker';

const WHY = {
  notFound: (_, id, subject) =>
    `there is no ${subject} ${id}${subject === 'delivery' ? '' : `: ${subject} list shows them`}`,
  webhookMuted: (_, id) => `webhook ${id} is muted already: webhook show ${id} tells why`,
  webhookInactive: (_, id) => `webhook ${id} is inactive: nothing is sent to it anyway`,
  webhookNotMuted: (_, id) => `webhook ${id} is not muted`,
  keyRetired: () => 'SECRETS_KEY begins with a retired key: put the new one in front',
  partnerInactive: (_, id) => `partner ${id} is inactive already: partner show ${id} tells since when`,
  partnerActive: (_, id) => `partner ${id} is active already`,
  deliveryOver: ({ status }, id) => `delivery ${id} is ${status} already: nothing of it will be sent`,
  deliveryInFlight: (_, id) => `delivery ${id} is in flight: try again when its attempt has ended`,
  unknownWorker: () => 'nothing is kept under this CPF',
  monthRemoved: ({ month, day }) =>
    `deliveries of ${day} are in the archive of ${month} alone, and would be counted as missing: archive restore ${month} --reason WHY brings them back`,
  loanOpen: ({ loanId, status }) =>
    `the loan ${loanId} is open (${status}): end it first, or name a court’s order with --order`,
  legalPeriod: ({ until }) => `the law has the data kept until ${until}: wait, or name a court’s order with --order`,
} as const satisfies { readonly [K in RefusalKind]?: (refusal: RefusalOf<K>, id: string, subject: Subject) => string };

/** What was asked for. Throws {@link Refusal} with the reason for which it was refused. */
export function orRefuse<T>(result: Result<T, keyof typeof WHY>, subject: Subject, id: string): T {
  if ('ok' in result) return result.ok;
  const report = WHY[result.refused.kind] as (refusal: unknown, id: string, subject: Subject) => string;
  throw new Refusal(report(result.refused, id, subject));
}

/** What was found. Throws {@link Refusal} where there is none of that id. */
export function orMissing<T>(found: T | null, subject: Subject, id: string): T {
  if (found === null) throw new Refusal(WHY.notFound({ kind: 'notFound' }, id, subject));
  return found;
}
