/** What the loan core reads: a loan, its versions, an event with its deliveries, the catalog. */
import { loanResource } from '../../contract/resources/loan-resource.ts';
import * as told from '../../contract/resources/nucleus-resource.ts';
import { NOT_FOUND } from '../../contract/refusals.ts';
import { id as idSchema } from '../../contract/values.ts';
import { readLoan } from '../../core/loans/read-loan.ts';
import { readEventDeliveries } from '../../delivery/partner/event-deliveries.ts';
import { view } from '../../loan/view.ts';
import { readCatalog, readCoreEvent } from '../../log/core-event.ts';
import type { HttpDeps } from '../deps.ts';
import type { AddOperation } from '../operation.ts';
import { MAX_VERSION, versionQuery } from './loans.ts';

export function addNucleusReadRoutes(add: AddOperation, { pool }: HttpDeps): void {
  const shared = { method: 'get', scope: 'nucleo' } as const;
  add(
    {
      ...shared,
      path: '/v1/nucleo/emprestimos/{id}',
      summary: {
        pt: 'Lê um empréstimo de qualquer parceiro, como está ou como estava numa versão',
        en: 'Reads a loan of any partner, as it is or as it was at a version',
      },
      query: versionQuery,
      answers: { 200: { description: { pt: 'O empréstimo', en: 'The loan' }, schema: loanResource } },
      errors: ['NAO_ENCONTRADO'],
    },
    async ({ id, query: { versao } }) => {
      const state = versao !== undefined && versao > MAX_VERSION ? null : await readLoan(pool, null, id, versao);
      return state === null ? NOT_FOUND : { status: 200, body: view(state) };
    },
  );

  add(
    {
      ...shared,
      path: '/v1/nucleo/eventos/{id}',
      summary: {
        pt: 'Um evento do registro, emitido ou interno, com as suas entregas e as tentativas delas',
        en: 'An event of the log, emitted or internal, with its deliveries and their attempts',
      },
      answers: { 200: { description: { pt: 'O evento', en: 'The event' }, schema: told.coreEvent } },
      errors: ['NAO_ENCONTRADO'],
    },
    async ({ id }) => {
      const event = idSchema.safeParse(id).success ? await readCoreEvent(pool, id) : null;
      if (event === null) return NOT_FOUND;
      return { status: 200, body: { ...event, entregas: await readEventDeliveries(pool, event.parceiro_id, id) } };
    },
  );

  add(
    {
      ...shared,
      path: '/v1/nucleo/catalogo',
      summary: {
        pt: 'Os eventos que o registro aceita, com os seus payloads',
        en: 'The events that the log takes, with their payloads',
      },
      answers: { 200: { description: { pt: 'O catálogo', en: 'The catalog' }, schema: told.catalog } },
    },
    async () => ({ status: 200, body: { itens: await readCatalog(pool) } }),
  );
}
