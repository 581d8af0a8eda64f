/** The header of a list that lacks rows: they left the database with their month, and lie in its files alone. */
import { monthsWithin } from '../../archive/acts.ts';
import type { HttpDeps } from '../deps.ts';

export const MONTHS_HEADER = {
  'X-Carteiro-Meses-Arquivados': {
    pt: 'Só quando linhas do período estão fora do banco: os meses arquivados, separados por vírgulas. O que falta está nos seus arquivos',
    en: 'Only when rows of the period are outside of the database: the archived months, with commas between them. Their files have what is missing',
  },
};

/** Names the months of which a search of the period has not all rows; null: it has no bound on that side. */
export async function monthsAway(
  { archives }: Pick<HttpDeps, 'archives'>,
  from: Date | null,
  until: Date | null,
): Promise<Partial<Record<keyof typeof MONTHS_HEADER, string>>> {
  const away = monthsWithin((await archives?.months()) ?? [], from, until);
  return away.length === 0 ? {} : { 'X-Carteiro-Meses-Arquivados': away.join(',') };
}
