/** A worker whose every text bears a mark, led through every route that takes one: what an order to erase has to find. */
import { registrationWorker } from '../../src/core/loans/registration-worker.ts';
import { projectBatch } from '../../src/core/projection/projector.ts';
import { EMITTED_NAMES } from '../../src/contract/events.ts';
import type { LoanResource } from '../../src/contract/resources/loan-resource.ts';
import { DOCUMENT_TYPES } from '../../src/contract/statuses.ts';
import { dayOf } from '../../src/contract/calendar.ts';
import type { Scope } from '../../src/contract/statuses.ts';
import type { Sql } from '../../src/db/pool.ts';
import type { Account, TestApi } from './api.ts';
import { CONTENTS } from './document-pieces.ts';
import { startEngine } from './engine.ts';
import { TERMS as USUAL_TERMS } from './partner-world.ts';
import { startReceiver } from './receiver.ts';
import { silentLog } from './silent-log.ts';
import { cpfOf } from './tax-ids.ts';

const MARK = 'MARCADA';
export const CPF = cpfOf(123_456_789);
export const KEY_OF_LOAN = 'chave-do-contrato';
const [EMPLOYER, OTHER_EMPLOYER] = ['11222333000181', '11444777000161'];
const DOTTED = CPF.replace(/(...)(...)(...)(..)/, '$1.$2.$3-$4');
const FREE_TEXT = `${MARK} ${DOTTED}`;
const SCOPES: readonly Scope[] = [
  'webhooks:read',
  'webhooks:write',
  'emprestimos:read',
  'emprestimos:write',
  'margem:read',
  'vinculos:read',
  'sandbox',
];

export const TERMS = {
  ...USUAL_TERMS,
  cpf_trabalhador: CPF,
  nome_trabalhador: `${MARK} da Silva`,
  matricula: `M-${MARK}`,
};

type Post = <T>(path: string, body?: object, key?: string) => Promise<T>;

/** The whole of it: two loans, margins, authorizations, bonds, documents, a test, and a receiver that gives everything back. */
export async function leadMarkedWorker(api: TestApi) {
  const receiver = await startReceiver();
  receiver.answerWith((post, response) => void response.writeHead(200).end(post.body));
  const { pool } = api.database;
  const engine = startEngine(pool, { openSecret: (id, sealed) => api.vault.decrypt(id, sealed), now: () => null });
  const deliver = async () => {
    while ((await engine.poll()) > 0);
  };
  const account: Account = { signing: 'externa', documents: 'diferida' };
  const [partnerId, slowId] = [await api.partner(account), await api.partner({ issuance: 'assincrona' })];
  const token = await api.token(partnerId, SCOPES);
  const call =
    (bearer: string, method = 'POST'): Post =>
    async <T>(path: string, body?: object, key?: string) => {
      const headers = key === undefined ? {} : { 'Idempotency-Key': key };
      const answer = await api.send<T>(method, path, { token: bearer, headers, ...(body !== undefined && { body }) });
      if (answer.status >= 300 && answer.status !== 502) throw new Error(`${method} ${path}: ${answer.text}`);
      return answer.body;
    };
  const [post, put] = [call(token), call(token, 'PUT')];
  const core = call(await api.token(undefined, ['nucleo']));
  const webhook = { url: `${receiver.url}/`, eventos: EMITTED_NAMES };
  const { id: webhookId } = await post<{ id: string }>('/v1/webhooks', webhook);
  await post(`/v1/webhooks/${webhookId}/teste`, {
    evento: 'autorizacao.confirmada',
    data: {
      autorizacao_id: '00000000-0000-7000-8000-000000000003',
      cpf_trabalhador: CPF,
      status: 'confirmada',
      origem: 'web',
    },
  });

  const tick = registrationWorker({ ...api.registry, pool, log: silentLog, documentsDeadlineDays: 15 });
  const closed = await leadToEndOfBond(post, put, () => tick.tick());
  await core('/v1/nucleo/autorizacoes', { parceiro_id: partnerId, cpf_trabalhador: CPF, origem: 'web' }, `a-${CPF}`);
  const margin = { parceiro_id: partnerId, cpf: CPF, numero_inscricao_empregador: EMPLOYER };
  const failed = { resultado: 'falhou', tipo_erro: 'negocial', erro: FREE_TEXT };
  await core('/v1/nucleo/margens', { ...margin, ...failed }, `m-${CPF}`);
  const answered = { resultado: 'concluida', valor_total_vencimentos: 5000, valor_margem_disponivel: 1500 };
  await core('/v1/nucleo/margens', { ...margin, ...answered });
  const slow = await core<LoanResource>('/v1/nucleo/emprestimos', { parceiro_id: slowId, ...TERMS }, `e-${CPF}`);
  await core(`/v1/nucleo/emprestimos/${slow.id}/emissao`, { resultado: 'falhou', motivo: FREE_TEXT });
  await projectBatch({ pool, log: silentLog });
  await deliver();
  return {
    partnerId,
    token,
    webhookId,
    receiver,
    /** One that the end of a bond closed, and one that was cancelled. */
    loans: [closed.id, slow.id],
    /** The body of the first one's creation, under {@link KEY_OF_LOAN}. */
    contract: closed.contract,
    deliver,
    async close() {
      await engine.close();
      await receiver.close();
    },
  };
}

async function leadToEndOfBond(post: Post, put: Post, tick: () => Promise<unknown>) {
  const worker = (employer: string | undefined) => ({ cpf: CPF, numero_inscricao_empregador: employer });
  await put('/v1/sandbox/margem', {
    ...worker(EMPLOYER),
    valor_total_vencimentos: 5000,
    valor_margem_disponivel: 1500,
  });
  const { consulta_margem_id } = await post<{ consulta_margem_id: string }>('/v1/margem/consulta', worker(EMPLOYER));
  await put('/v1/sandbox/margem', { ...worker(OTHER_EMPLOYER), falha: 'upstream', erro: FREE_TEXT });
  await post('/v1/margem/consulta', worker(OTHER_EMPLOYER));
  await post('/v1/sandbox/autorizacoes', { cpf_trabalhador: CPF, origem: 'mensageria' });
  const contract = { ...TERMS, consulta_margem_id };
  const { id } = await post<LoanResource>('/v1/emprestimos', contract, KEY_OF_LOAN);
  const loan = `/v1/emprestimos/${id}`;
  const sandbox = `/v1/sandbox/emprestimos/${id}`;
  const piece = (tipo: (typeof DOCUMENT_TYPES)[number]) => ({
    tipo,
    nome_arquivo: `${MARK}-${tipo}.pdf`,
    conteudo_base64: Buffer.concat([CONTENTS[tipo], Buffer.from(FREE_TEXT)]).toString('base64'),
  });
  await post(`${loan}/documentos`, { documentos: [piece('ccb_assinada')] });
  await put(`${sandbox}/averbacao`, { resultado: 'falhou', erro: FREE_TEXT });
  await post(`${loan}/averbacao`);
  await tick();
  await put(`${sandbox}/averbacao`, { resultado: 'concluida' });
  await post(`${loan}/averbacao`);
  await tick();
  const { tipo: _, ...selfie } = piece('selfie');
  await post(`${loan}/documentos/selfie`, selfie);
  const rest = DOCUMENT_TYPES.filter((tipo) => tipo !== 'ccb_assinada' && tipo !== 'selfie');
  await post(`${loan}/documentos-dataprev`, { documentos: rest.map(piece) });
  await post(`${sandbox}/desembolso`, { resultado: 'falhou', motivo: FREE_TEXT });
  await post(`${sandbox}/desembolso`, { resultado: 'liquidado' });
  const today = dayOf(new Date());
  const reason = { codigo: '02', descricao: FREE_TEXT };
  await post('/v1/sandbox/vinculos/desligamentos', {
    emprestimo_id: id,
    data_desligamento: today,
    motivo_desligamento: reason,
  });
  await post('/v1/sandbox/sincronizacao');
  const employer = { cnpj: OTHER_EMPLOYER, nome: `${MARK} & Filhos` };
  await post('/v1/sandbox/vinculos/novos', {
    emprestimo_id: id,
    novo_empregador: employer,
    data_admissao: today,
    margem_disponivel: 1500,
  });
  await post('/v1/sandbox/sincronizacao');
  return { id, contract };
}

/** Tables in whose rows the worker's CPF or the mark stands, as text or as bytes, each with the number of rows; and of its digests. */
export async function findMarks(sql: Sql): Promise<Readonly<Record<string, number>>> {
  const hex = (text: string) => Buffer.from(text).toString('hex');
  const marks = [MARK, CPF, DOTTED, hex(MARK), hex(CPF), hex(DOTTED)]
    .map((mark) => mark.replaceAll('.', '[.]'))
    .join('|');
  const tables = await sql<{ name: string }[]>`
    select quote_ident(relname) as name from pg_class where relkind in ('r', 'm') and relnamespace = 'carteiro'::regnamespace order by 1`;
  const found: Record<string, number> = {};
  for (const { name } of tables) {
    const [{ count }] = await sql.unsafe<[{ count: number }]>(
      `select count(*)::int as count from carteiro.${name} t where t::text ~ $1`,
      [marks],
    );
    if (count > 0) found[name] = count;
  }
  return found;
}
