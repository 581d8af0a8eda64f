/** A worker's acceptance of an authorization, as the sandbox and the loan core report it. */
import { z } from 'zod';
import { AUTHORIZATION_ORIGINS } from '../statuses.ts';
import { cpf } from '../tax-ids.ts';

export const acceptance = z.strictObject({ cpf_trabalhador: cpf, origem: z.enum(AUTHORIZATION_ORIGINS) });
