/** Where POSTs come from. */
import { z } from 'zod';

export const egress = z.strictObject({ enderecos: z.array(z.string()) }).meta({ id: 'EnderecosDeSaida' });
