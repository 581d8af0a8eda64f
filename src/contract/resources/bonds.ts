/** The lists of detected bonds: the event's data and when it was detected. */
import { z } from 'zod';
import { readCpf } from '../erasure.ts';
import { bondEnded, newBond } from '../payloads.ts';
import { timestamp } from '../values.ts';

export const MAX_BOND_PAGE = 200;
export const DEFAULT_BOND_PAGE = 50;

function page<S extends z.ZodType>(item: S) {
  return z.strictObject({ itens: z.array(item), proximo_cursor: z.string().nullable() });
}

export const endedBondPage = page(
  bondEnded.extend({ cpf_trabalhador: readCpf, detectado_em: timestamp }).meta({ id: 'Desligamento' }),
);
export const newBondPage = page(
  newBond.extend({ cpf_trabalhador: readCpf, detectado_em: timestamp }).meta({ id: 'VinculoNovo' }),
);
