/** The header that names archived months: a list has it when rows of these are in the months' files alone. */
import { monthsWithin } from '../../archive/acts.ts';
import type { HttpDeps } from '../deps.ts';

export const MONTHS_HEADER = {
  'X-Carteiro-Meses-Arquivados': {
    pt: 'Só quando linhas do período estão fora do banco: os meses arquivados, separados por vírgulas. O que falta está nos seus arquivos',
    en: 'Only when rows of the period are outside of the database: the archived months, with commas between them. Their files have what is missing',
  },
};

/** Names the archived months that a search of the period reaches; null: the period has no bound on that side. */
export async function monthsAway(
  { archives }: Pick<HttpDeps, 'archives'>,
  from: Date | null,
  until: Date | null,
): Promise<Partial<Record<keyof typeof MONTHS_HEADER, string>>> {
  const away = monthsWithin((await archives?.months()) ?? [], from, until);
  return headerOf(away);
}

export function headerOf(months: readonly string[]): Partial<Record<keyof typeof MONTHS_HEADER, string>> {
  return months.length === 0 ? {} : { 'X-Carteiro-Meses-Arquivados': months.join(',') };
}
