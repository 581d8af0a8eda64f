/** The margins of the simulated registry: those that a partner set, else one default for every worker. */
import type { MARGIN_ERROR_KINDS } from '../contract/statuses.ts';
import type { Tx } from '../db/pool.ts';
import type { MarginAnswer, MarginQuestion } from './port.ts';

/** `unavailable`: it cannot answer now. */
type SimulatedMargin = MarginAnswer | { readonly outcome: 'unavailable'; readonly error: string };

type Worker = Pick<MarginQuestion, 'partnerId' | 'workerCpf' | 'employerCnpj'>;

/** R$ 5.000,00 of earnings; 35% can be pledged. */
const DEFAULT_ANSWER: SimulatedMargin = { outcome: 'answered', earningsCentavos: 500_000, marginCentavos: 175_000 };

export type ReportedMargin =
  | { readonly earningsCentavos: number; readonly marginCentavos: number }
  | { readonly failure: (typeof MARGIN_ERROR_KINDS)[number]; readonly error: string };

/** Sets the answer about one worker and employer until it is set again. */
export async function reportMargin(tx: Tx, of: Worker, reported: ReportedMargin): Promise<void> {
  const [earnings, margin] =
    'failure' in reported ? [null, null] : [reported.earningsCentavos, reported.marginCentavos];
  const [kind, error] = 'failure' in reported ? [reported.failure, reported.error] : [null, null];
  await tx`
    insert into simulated_margins
      (partner_id, worker_cpf, employer_cnpj, earnings_centavos, margin_centavos, error_kind, error)
    values (${of.partnerId}, ${of.workerCpf}, ${of.employerCnpj}, ${earnings}, ${margin}, ${kind}, ${error})
    on conflict (partner_id, worker_cpf, employer_cnpj) do update
    set earnings_centavos = excluded.earnings_centavos, margin_centavos = excluded.margin_centavos,
        error_kind = excluded.error_kind, error = excluded.error`;
}

interface ReportedRow {
  readonly earnings: number | null;
  readonly margin: number | null;
  readonly kind: string | null;
  readonly error: string | null;
}

export async function answerMargin(tx: Tx, question: Worker): Promise<SimulatedMargin> {
  const [reported] = await tx<ReportedRow[]>`
    select earnings_centavos::float8 as earnings, margin_centavos::float8 as margin, error_kind as kind, error
    from simulated_margins
    where partner_id = ${question.partnerId}
      and worker_cpf = ${question.workerCpf} and employer_cnpj = ${question.employerCnpj}`;
  if (reported === undefined) return DEFAULT_ANSWER;
  const { earnings, margin, kind, error } = reported;
  if (earnings !== null && margin !== null) {
    return { outcome: 'answered', earningsCentavos: earnings, marginCentavos: margin };
  }
  return { outcome: kind === 'negocial' ? 'refused' : 'unavailable', error: error ?? '' };
}
