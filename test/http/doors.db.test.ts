/**
 * The whole life of a loan in production, where there is no sandbox: every path of the guarantee matrix, once through each
 * door of the loan core. Over HTTP the core calls /v1/nucleo and our own worker, sync and closing do the rest; or, where
 * the loans are the lender's core's, it tells every fact there; over SQL it appends every fact itself.
 */
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { LoanCore } from '../../src/contract/statuses.ts';
import type { BalanceResource } from '../../src/contract/resources/audit-resource.ts';
import { EMITTED_NAMES, type EmittedName } from '../../src/contract/events.ts';
import type { LoanResource } from '../../src/contract/resources/loan-resource.ts';
import { DOCUMENT_TYPES } from '../../src/contract/statuses.ts';
import { syncBonds } from '../../src/core/bonds/bonds.ts';
import { projectBatch } from '../../src/core/projection/projector.ts';
import { closeSettlement } from '../../src/core/settlement/settlement.ts';
import { dayOf } from '../../src/contract/calendar.ts';
import { reportEndOfBond, reportRehire } from '../../src/registry/simulated-bonds.ts';
import { answerNextRegistration } from '../../src/registry/simulated.ts';
import { packageOf } from '../support/document-pieces.ts';
import {
  EXTERNAL_DEFERRED,
  EXTERNAL_GROUPED,
  namesOf,
  type PartnerWorld,
  startPartnerWorld,
  TERMS,
  type TestPartner,
  WHOLE_DEFERRED_LIFE,
} from '../support/partner-world.ts';
import type { Account } from '../support/api.ts';
import { silentLog } from '../support/silent-log.ts';

let world: PartnerWorld;
let core: string;
const worlds: Partial<Record<LoanCore, PartnerWorld>> = {};
beforeAll(async () => {
  for (const loanCore of ['own', 'outside'] as const)
    worlds[loanCore] = await startPartnerWorld({ sandbox: null, loanCore });
  await enter('own');
});

async function enter(loanCore: LoanCore): Promise<void> {
  world = worlds[loanCore] as PartnerWorld;
  core = await world.api.token(undefined, ['nucleo']);
}

type LoanStep = (partner: TestPartner, loan: LoanResource) => Promise<void>;

/** Each fact of the lender's side, as one door makes it. */
interface Door {
  readonly issue: (partner: TestPartner) => Promise<string>;
  readonly authorize: (partner: TestPartner) => Promise<void>;
  readonly queryMargin: (partner: TestPartner, fails: boolean) => Promise<void>;
  readonly sign: LoanStep;
  readonly issued: LoanStep;
  readonly issuanceFailed: LoanStep;
  readonly wholePackage: LoanStep;
  readonly register: LoanStep;
  readonly registrationFails: LoanStep;
  readonly remainingDocuments: LoanStep;
  readonly settle: LoanStep;
  readonly transferFails: LoanStep;
  readonly endBond: LoanStep;
  readonly rehire: LoanStep;
  readonly closeMonth: (partner: TestPartner) => Promise<void>;
}

const today = () => dayOf(new Date());
const REASON = { codigo: '02', descricao: 'Sem justa causa' };
const EMPLOYER = { cnpj: '11444777000161', nome: 'Outra Empresa' };
const database = () => world.api.database;

function lastMonth(): string {
  const [year, month] = today().split('-').map(Number) as [number, number];
  return month === 1 ? `${year - 1}-12` : `${year}-${String(month - 1).padStart(2, '0')}`;
}

async function report<T>(path: string, body?: unknown): Promise<T> {
  const answer = await world.api.send<T>('POST', path, { token: core, ...(body !== undefined && { body }) });
  if (answer.status >= 300) throw new Error(`${path}: ${answer.text}`);
  return answer.body;
}

const post = async (path: string, body?: unknown): Promise<void> => void (await report(path, body));

const fact =
  (name: string, body?: unknown): LoanStep =>
  async (_partner, { id }) =>
    post(`/v1/nucleo/emprestimos/${id}/${name}`, body);

async function sync(partner: TestPartner): Promise<void> {
  const deps = { pool: database().pool, registry: world.api.registry.registry, log: silentLog };
  await syncBonds(deps, { partnerId: partner.id, actor: 'sync-bonds', requestId: null });
}

const http: Door = {
  issue: (partner) => partner.newLoan(),
  authorize: ({ id }) =>
    post('/v1/nucleo/autorizacoes', { parceiro_id: id, cpf_trabalhador: TERMS.cpf_trabalhador, origem: 'web' }),
  async queryMargin(partner, fails) {
    const { cpf_trabalhador: cpf, cnpj_empregador: employer } = TERMS;
    await database().sql`
      insert into simulated_margins (partner_id, worker_cpf, employer_cnpj, earnings_centavos, margin_centavos, error_kind, error)
      values (${partner.id}, ${cpf}, ${employer}, ${fails ? null : 500_000}, ${fails ? null : 150_000},
              ${fails ? 'upstream' : null}, ${fails ? 'fora do ar' : null})`;
    const token = await world.api.token(partner.id, ['margem:read']);
    const body = { cpf, numero_inscricao_empregador: employer };
    expect((await world.api.send('POST', '/v1/margem/consulta', { token, body })).status).toBe(fails ? 502 : 200);
  },
  sign: fact('assinatura'),
  issued: fact('emissao', { resultado: 'emitida' }),
  issuanceFailed: fact('emissao', { resultado: 'falhou' }),
  wholePackage: async (partner, { id }) =>
    void (await partner.accepted(`/v1/emprestimos/${id}/documentos`, packageOf())),
  register: (partner, { id }) => partner.register(id),
  async registrationFails(partner, { id }) {
    await database().pool.transaction((tx) => answerNextRegistration(tx, id, 'margem insuficiente'));
    await partner.register(id);
  },
  remainingDocuments: async (partner, { id }) =>
    void (await partner.accepted(`/v1/emprestimos/${id}/documentos-dataprev`, packageOf())),
  settle: fact('desembolso', { resultado: 'liquidado' }),
  transferFails: fact('desembolso', { resultado: 'falhou', motivo: 'conta encerrada' }),
  async endBond(partner, { id }) {
    await database().pool.run((sql) =>
      reportEndOfBond(sql, { partnerId: partner.id, loanId: id }, { on: today(), reason: REASON }),
    );
    await sync(partner);
  },
  async rehire(partner, { id }) {
    const rehired = { on: today(), employer: EMPLOYER, availableMarginCentavos: 150_000 };
    await database().pool.run((sql) => reportRehire(sql, { partnerId: partner.id, loanId: id }, rehired));
    await sync(partner);
  },
  async closeMonth({ id }) {
    const provenance = { partnerId: id, actor: 'close-settlement', requestId: null };
    await closeSettlement(database().pool, provenance, lastMonth());
  },
};

const margin = ({ id }: TestPartner) => ({
  parceiro_id: id,
  cpf: TERMS.cpf_trabalhador,
  numero_inscricao_empregador: TERMS.cnpj_empregador,
});

const asked = fact('averbacao', { resultado: 'solicitada' });

/** Where `LOAN_CORE` is `outside`: nothing is left to our worker, our sync and our closing. */
const outside: Door = {
  ...http,
  issue: async ({ id }) => (await report<LoanResource>('/v1/nucleo/emprestimos', { parceiro_id: id, ...TERMS })).id,
  queryMargin: (partner, fails) =>
    post('/v1/nucleo/margens', {
      ...margin(partner),
      ...(fails
        ? { resultado: 'falhou', tipo_erro: 'upstream', erro: 'fora do ar' }
        : { resultado: 'concluida', valor_total_vencimentos: 5000, valor_margem_disponivel: 1500 }),
    }),
  wholePackage: fact('documentos', packageOf()),
  async register(partner, loan) {
    await asked(partner, loan);
    await fact('averbacao', { resultado: 'concluida', protocolo_registry: 'REG-1' })(partner, loan);
  },
  async registrationFails(partner, loan) {
    await asked(partner, loan);
    await fact('averbacao', { resultado: 'falhou', erro: 'margem insuficiente' })(partner, loan);
  },
  remainingDocuments: fact('documentos-dataprev', packageOf()),
  endBond: (_partner, { id }) =>
    post('/v1/nucleo/vinculos/desligamentos', {
      emprestimo_id: id,
      data_desligamento: today(),
      motivo_desligamento: REASON,
    }),
  rehire: (_partner, { id }) =>
    post('/v1/nucleo/vinculos/novos', {
      emprestimo_id: id,
      novo_empregador: EMPLOYER,
      data_admissao: today(),
      margem_disponivel: 1500,
    }),
  closeMonth: ({ id }) => post('/v1/nucleo/repasses', { parceiro_id: id, competencia: lastMonth() }),
};

/** Appends as a core in another language does, on the version that the stream has. */
async function append(partner: TestPartner, stream: string, type: string, data: object): Promise<void> {
  await database().sql`
    select append_event(${stream}, stream_version(${stream}), ${type}, ${partner.id},
                        ${JSON.stringify(data)}::text::json, 'core-banking')`;
}

const of = ({ id, numero }: LoanResource) => ({ emprestimo_id: id, numero_emprestimo: numero });

async function receive(partner: TestPartner, { id }: LoanResource): Promise<void> {
  for (const tipo of DOCUMENT_TYPES)
    await append(partner, id, 'documento.recebido', { emprestimo_id: id, tipo, sha256: 'ab'.repeat(32) });
}

async function askRegistration(partner: TestPartner, loan: LoanResource): Promise<object> {
  const ids = { emprestimo_id: loan.id, averbacao_id: randomUUID() };
  const isDeferred = loan.tipo_assinatura === 'externa' && loan.entrega_documentos === 'diferida';
  if (isDeferred && loan.status === 'em_assinatura')
    await append(partner, loan.id, 'assinatura.pendente', { ...of(loan), ccb_assinada_recebida: false });
  await append(partner, loan.id, 'averbacao.solicitada', ids);
  return ids;
}

const worker = () => ({ cpf_trabalhador: TERMS.cpf_trabalhador });

const sql: Door = {
  issue: (partner) => partner.newLoan(),
  authorize: (partner) => {
    const id = randomUUID();
    const data = { autorizacao_id: id, ...worker(), status: 'confirmada', origem: 'web' };
    return append(partner, id, 'autorizacao.confirmada', data);
  },
  queryMargin(partner, fails) {
    const id = randomUUID();
    const asked = { ...worker(), cnpj_empregador: TERMS.cnpj_empregador };
    return fails
      ? append(partner, id, 'margem.falhou', { ...asked, tipo_erro: 'upstream', erro: 'fora do ar' })
      : append(partner, id, 'margem.concluida', {
          ...asked,
          consulta_margem_id: id,
          salario_bruto: 5000,
          margem_disponivel: 1500,
          margem_percentual: 0.3,
        });
  },
  sign: (partner, { id }) =>
    append(partner, id, 'assinatura.concluida', { emprestimo_id: id, tipo_assinatura: 'internal' }),
  issued: (partner, { id, valor_liberado }) =>
    append(partner, id, 'emprestimo.emitido', { emprestimo_id: id, numero: '2026-77777777', valor_liberado }),
  issuanceFailed: (partner, { id }) =>
    append(partner, id, 'emprestimo.emissao_falhou', { emprestimo_id: id, motivo: 'esgotado' }),
  async wholePackage(partner, loan) {
    await receive(partner, loan);
    await append(partner, loan.id, 'assinatura.concluida', { emprestimo_id: loan.id, tipo_assinatura: 'externa' });
  },
  async register(partner, loan) {
    const ids = await askRegistration(partner, loan);
    await append(partner, loan.id, 'averbacao.concluida', { ...ids, protocolo_registry: 'REG-1' });
    const isDeferred = loan.tipo_assinatura === 'externa' && loan.entrega_documentos === 'diferida';
    if (isDeferred) await append(partner, loan.id, 'docs_registry.pendente', { ...of(loan), prazo: '2030-01-31' });
  },
  async registrationFails(partner, loan) {
    const ids = await askRegistration(partner, loan);
    await append(partner, loan.id, 'averbacao.falhou', { ...ids, erro: 'margem insuficiente' });
  },
  async remainingDocuments(partner, loan) {
    await receive(partner, loan);
    await append(partner, loan.id, 'docs_registry.recebido', of(loan));
    await append(partner, loan.id, 'assinatura.concluida', { emprestimo_id: loan.id, tipo_assinatura: 'externa' });
  },
  settle: (partner, loan) =>
    append(partner, loan.id, 'desembolso.liquidado', {
      ...of(loan),
      valor_liberado: loan.valor_liberado,
      data_liberacao: today(),
    }),
  transferFails: (partner, loan) =>
    append(partner, loan.id, 'desembolso.falhou', { ...of(loan), motivo: 'conta encerrada' }),
  endBond: (partner, loan) =>
    append(partner, loan.id, 'trabalhador.desligado', {
      ...of(loan),
      ...worker(),
      matricula: TERMS.matricula,
      nome_trabalhador: TERMS.nome_trabalhador,
      data_desligamento: today(),
      motivo_desligamento: REASON,
      situacao_emprestimo: { codigo: 'encerrado_desligamento', descricao: 'Encerrado por desligamento' },
    }),
  rehire: (partner, { id }) =>
    append(partner, id, 'trabalhador.vinculo_novo', {
      ...worker(),
      nome_trabalhador: TERMS.nome_trabalhador,
      novo_empregador: EMPLOYER,
      data_admissao: today(),
      margem_disponivel: 1500,
      emprestimo_id: id,
      saldo_pendente: 1440.6,
      averbavel: true,
    }),
  closeMonth(partner) {
    const id = randomUUID();
    return append(partner, id, 'repasse.processado', {
      repasse_id: id,
      competencia: lastMonth(),
      total_parcelas: 1,
      numero_ccbs: 1,
      valor_total: TERMS.valor_parcela,
      fechado_em: new Date().toISOString(),
    });
  },
};

interface Path {
  readonly name: string;
  readonly account?: Account;
  /** The steps of a loan, after each of which the partner reads it. */
  readonly steps: readonly (keyof Door)[];
  /** What the partner receives, in the catalog's order. */
  readonly events: readonly EmittedName[];
  readonly end?: Partial<LoanResource>;
}

const ASYNC: Account = { issuance: 'assincrona' };
const PATHS: readonly Path[] = [
  {
    name: 'internal signing, to the settled transfer and the closed month',
    steps: ['sign', 'register', 'settle', 'closeMonth'],
    events: ['assinatura.concluida', 'averbacao.concluida', 'desembolso.liquidado', 'repasse.processado'],
    end: {
      status: 'desembolsada',
      proxima_acao: null,
      // Of the moment at which the loan is read: the file may have been loaded on the day before.
      get data_liberacao() {
        return today();
      },
    },
  },
  {
    name: 'an issuance that ends',
    account: ASYNC,
    steps: ['issued'],
    events: ['emprestimo.emitido'],
    end: { status: 'em_assinatura', proxima_acao: 'assinar' },
  },
  {
    name: 'an issuance that is given up',
    account: ASYNC,
    steps: ['issuanceFailed'],
    events: ['emprestimo.emissao_falhou'],
    end: { status: 'cancelada', proxima_acao: null },
  },
  {
    name: 'grouped documents',
    account: EXTERNAL_GROUPED,
    steps: ['wholePackage', 'register', 'settle'],
    events: ['assinatura.concluida', 'averbacao.concluida', 'desembolso.liquidado'],
    end: { status: 'desembolsada', ccb_assinada_recebida: true, entrega_docs_registry: null },
  },
  {
    name: 'deferred documents',
    account: EXTERNAL_DEFERRED,
    steps: ['register', 'settle', 'remainingDocuments'],
    events: WHOLE_DEFERRED_LIFE,
    end: { status: 'desembolsada', ccb_assinada_recebida: true },
  },
  {
    name: 'a registration and a transfer that fail first',
    steps: ['sign', 'registrationFails', 'register', 'transferFails', 'settle'],
    events: [
      'assinatura.concluida',
      'averbacao.concluida',
      'averbacao.falhou',
      'desembolso.liquidado',
      'desembolso.falhou',
    ],
    end: { status: 'desembolsada' },
  },
  {
    name: 'an end of bond and a rehire',
    steps: ['sign', 'register', 'settle', 'endBond', 'rehire'],
    events: [
      'assinatura.concluida',
      'averbacao.concluida',
      'desembolso.liquidado',
      'trabalhador.desligado',
      'trabalhador.vinculo_novo',
    ],
    end: { status: 'encerrada_desligamento', proxima_acao: null },
  },
];

const MATRIX = new Set([
  ...PATHS.flatMap(({ events }) => events),
  'autorizacao.confirmada',
  'margem.concluida',
  'margem.falhou',
]);

test('the table has every event of the guarantee matrix', () => {
  expect([...MATRIX].toSorted()).toEqual(EMITTED_NAMES.toSorted());
});

describe.each([
  ['HTTP', 'own', http],
  ['HTTP, by the lender’s core alone,', 'outside', outside],
  ['SQL', 'own', sql],
] as const)('through %s', (_name, loanCore, door) => {
  beforeAll(() => enter(loanCore));

  test.each(PATHS)('$name', async ({ account, steps, events, end = {} }) => {
    const partner = await world.partner(account ?? {});
    const id = await door.issue(partner);
    for (const step of steps) {
      const before = await partner.read(id);
      await (door[step] as LoanStep)(partner, before);
      await partner.received();
      const read = await partner.read(id);
      expect(read.versao > before.versao).toBe(step !== 'closeMonth');
      const { token } = partner;
      const asOf = await world.api.send('GET', `/v1/emprestimos/${id}?versao=${read.versao}`, { token });
      expect(asOf.body).toEqual(read);
    }
    expect(namesOf(await partner.received())).toEqual(events);
    expect(await partner.read(id)).toMatchObject(end);
  });

  test('an authorization, a margin and a margin that fails', async () => {
    const partner = await world.partner();
    await door.authorize(partner);
    await door.queryMargin(partner, false);
    expect(namesOf(await partner.received())).toEqual(['autorizacao.confirmada', 'margem.concluida']);
    const other = await world.partner();
    await door.queryMargin(other, true);
    expect(namesOf(await other.received())).toEqual(['margem.falhou']);
  });
});

test.each(['own', 'outside'] as const)(
  'in production there is no sandbox, and after all these lives the books are closed, loan core: %s',
  async (loanCore) => {
    await enter(loanCore);
    const partner = await world.partner();
    const sandbox = await partner.post(`/v1/sandbox/emprestimos/${randomUUID()}/assinatura`);
    expect([sandbox.status, sandbox.body.codigo]).toEqual([404, 'NAO_ENCONTRADO']);
    await projectBatch({ pool: database().pool, log: silentLog });
    const token = await world.api.token(undefined, ['auditoria:read']);
    const { body } = await world.api.send<BalanceResource>(
      'GET',
      `/v1/auditoria/balanco?de=${today()}&ate=${today()}`,
      {
        token,
      },
    );
    expect(body).toMatchObject({ fecha: true, diferencas: [] });
  },
);
