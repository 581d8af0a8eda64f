import { randomUUID } from 'node:crypto';
import type { RegistrationRequest } from '../../src/registry/port.ts';
import { tellMargin } from '../../src/registry/simulated-margin.ts';
import { answerNextRegistration } from '../../src/registry/simulated.ts';
import { createPartner, issueLoan, REQUEST } from '../core/loan-world.ts';
import { startRegistry } from '../support/registry.ts';
import { createTestDatabase } from '../support/database.ts';
import { cpfOf } from '../support/tax-ids.ts';
import { describeRegistry } from './registry-contract.ts';

describeRegistry('the adapter, asking the simulated registry over HTTP,', async () => {
  const database = await createTestDatabase();
  const { pool, sql } = database;
  const partner = await createPartner(sql);
  const opened = await startRegistry(pool);
  let made = 0;
  const request = (loanId: string, number: string): RegistrationRequest => ({
    registrationId: randomUUID(),
    requestId: null,
    loanId,
    number,
    workerCpf: REQUEST.cpf_trabalhador,
    workerEnrollment: REQUEST.matricula,
    employerCnpj: REQUEST.cnpj_empregador,
    releasedCentavos: 123_450,
    installments: 12,
    installmentCentavos: 12_033,
  });
  return {
    registry: opened.registry,
    async newRegistration() {
      const { id, numero } = await issueLoan(pool, partner, `key-${(made += 1)}`);
      return request(id, numero);
    },
    nextRegistration: ({ loanId, number }) => request(loanId, number),
    refuseNext: (loanId, error) => answerNextRegistration(sql, loanId, error),
    newQuestion: () => ({
      queryId: randomUUID(),
      requestId: null,
      partnerId: partner.partnerId,
      workerCpf: cpfOf((made += 1)),
      employerCnpj: REQUEST.cnpj_empregador,
    }),
    tell: (question, margin) => tellMargin(sql, question, margin),
    refuseMargin: (question, error) => tellMargin(sql, question, { failure: 'negocial', error }),
    breakMargin: (question, error) => tellMargin(sql, question, { failure: 'upstream', error }),
    async close() {
      await opened.close();
      await database.drop();
    },
  };
});
