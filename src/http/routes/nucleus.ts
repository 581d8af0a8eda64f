/**
 * The loan core's door over HTTP: every fact that it may know before we do, and what it reads back. An `Idempotency-Key`
 * is honoured everywhere.
 */
import { z } from 'zod';
import { authorizationConfirmed } from '../../contract/payloads.ts';
import { acceptance } from '../../contract/resources/acceptance.ts';
import * as told from '../../contract/resources/nucleus-resource.ts';
import { id, toCentavos } from '../../contract/values.ts';
import { tellOfPartner } from '../../core/loans/nucleus.ts';
import { confirmAuthorization } from '../../core/margin/authorization.ts';
import { tellMargin, type ToldMargin } from '../../core/margin/told-margin.ts';
import { closeSettlement } from '../../core/settlement/settlement.ts';
import type { HttpDeps } from '../deps.ts';
import type { AddOperation } from '../operation.ts';
import { addCoreDocumentRoutes } from './documents.ts';
import { addLoanFactRoutes, CORE_DOOR } from './loan-facts.ts';
import { addNucleusLoanRoutes } from './nucleus-loans.ts';
import { addNucleusReadRoutes } from './nucleus-reads.ts';

const TOLD = {
  method: 'post',
  scope: 'nucleo',
  idempotencyKey: 'optional',
  errors: ['ERRO_VALIDACAO', 'IDEMPOTENCIA_EM_ANDAMENTO', 'IDEMPOTENCIA_DIVERGENTE'],
} as const;

export function addNucleusRoutes(add: AddOperation, deps: HttpDeps): void {
  addLoanFactRoutes(add, deps, CORE_DOOR);
  addNucleusLoanRoutes(add, deps);
  addCoreDocumentRoutes(add, deps);
  addAuthorizations(add, deps);
  addMargins(add, deps);
  addSettlements(add, deps);
  addNucleusReadRoutes(add, deps);
}

function addAuthorizations(add: AddOperation, { pool }: HttpDeps): void {
  const path = '/v1/nucleo/autorizacoes';
  add(
    {
      ...TOLD,
      path,
      summary: { pt: 'O trabalhador aceita a autorização', en: 'The worker accepts the authorization' },
      body: z.strictObject({
        parceiro_id: id.meta({
          text: { pt: 'O parceiro que recebe o evento', en: 'The partner that receives the event' },
        }),
        ...acceptance.shape,
      }),
      answers: {
        201: {
          description: { pt: 'A autorização confirmada', en: 'The confirmed authorization' },
          schema: authorizationConfirmed,
        },
      },
    },
    async (call) => {
      const { parceiro_id: _, ...accepted } = call.body;
      return tellOfPartner(pool, path, call, async (within, provenance) => {
        const body = await confirmAuthorization(within, provenance, accepted);
        return { ok: { status: 201, location: null, body } as const };
      });
    },
  );
}

function addMargins(add: AddOperation, { pool }: HttpDeps): void {
  const path = '/v1/nucleo/margens';
  const schema = z.strictObject({ consulta_margem_id: id });
  add(
    {
      ...TOLD,
      path,
      summary: {
        pt: 'O registry respondeu a uma consulta de margem do núcleo, ou a consulta falhou',
        en: 'The registry answered a margin query of the core, or the query failed',
      },
      body: told.toldMargin,
      answers: {
        201: {
          description: {
            pt: 'A consulta, com o id que um empréstimo pode citar',
            en: 'The query, with the id that a loan may name',
          },
          schema,
        },
      },
    },
    async (call) => {
      const { cpf: workerCpf, numero_inscricao_empregador: employerCnpj } = call.body;
      return tellOfPartner(pool, path, call, async (within, provenance) => {
        const answer = marginOf(call.body);
        const queryId = await within.transaction((tx) =>
          tellMargin(tx, provenance, { workerCpf, employerCnpj }, answer),
        );
        return { ok: { status: 201, location: null, body: { consulta_margem_id: queryId } } as const };
      });
    },
  );
}

function marginOf(body: z.output<typeof told.toldMargin>): ToldMargin {
  if (body.resultado === 'falhou') return { failure: { kind: body.tipo_erro, error: body.erro } };
  return {
    earningsCentavos: toCentavos(body.valor_total_vencimentos),
    marginCentavos: toCentavos(body.valor_margem_disponivel),
  };
}

function addSettlements(add: AddOperation, { pool }: HttpDeps): void {
  const path = '/v1/nucleo/repasses';
  add(
    {
      ...TOLD,
      path,
      summary: {
        pt: 'O repasse do mês de um parceiro fecha; fechar de novo responde o que existe, com ja_fechado true',
        en: "A partner's month closes; closing it again answers what there is, with ja_fechado true",
      },
      body: told.monthOfPartner,
      answers: { 200: { description: { pt: 'O repasse', en: 'The settlement' }, schema: told.closedMonth } },
      errors: [...TOLD.errors, 'TRANSICAO_INVALIDA'],
    },
    async (call) =>
      tellOfPartner(pool, path, call, async (within, provenance) => {
        const closing = await closeSettlement(within, provenance, call.body.competencia);
        if ('refused' in closing) return closing;
        const { settlement, alreadyClosed } = closing.ok;
        return { ok: { status: 200, location: null, body: { ...settlement, ja_fechado: alreadyClosed } } as const };
      }),
  );
}
