/** Where POSTs come from. */
import { z } from 'zod';
import { component } from '../values.ts';

export const egress = component('EnderecosDeSaida', { enderecos: z.array(z.string()) });
