/** Documents over HTTP: the three signing flows, what a real receiver gets of each, and what is refused. */
import { describe, expect, test } from 'vitest';
import { DOCUMENT_TYPES } from '../../src/contract/statuses.ts';
import { contentOf, CONTENTS, packageOf, sha256Of } from '../support/document-pieces.ts';
import {
  EXTERNAL_DEFERRED,
  EXTERNAL_GROUPED,
  namesOf,
  type ReceivedEvent,
  startPartnerWorld,
  type TestPartner,
} from '../support/partner-world.ts';

const NEVER_IN_GROUPED_OR_INTERNAL = ['assinatura.pendente', 'docs_registry.pendente', 'docs_registry.recebido'];
const REMAINING = DOCUMENT_TYPES.filter((type) => type !== 'ccb_assinada');
const world = await startPartnerWorld();

const pathOf = (loanId: string, rest: string) => `/v1/emprestimos/${loanId}/${rest}`;
const dataOf = (events: readonly ReceivedEvent[], name: string) =>
  events.filter(({ evento }) => evento === name).map(({ data }) => data);

async function expectConflict(partner: TestPartner, path: string, body: unknown, ...named: string[]): Promise<void> {
  const answer = await partner.post(path, body);
  expect([answer.status, answer.body.codigo]).toEqual([409, 'TRANSICAO_INVALIDA']);
  for (const name of named) expect(answer.body.mensagem).toContain(name);
}

async function archiveOf(loanId: string): Promise<readonly unknown[]> {
  return world.api.database.sql`
    select type, file_name as name, media_type as media, encode(sha256, 'hex') as sha256
    from documents where loan_id = ${loanId} order by type`;
}

/** A deferred loan whose obligation is open. */
async function awaitingDocuments(partner: TestPartner): Promise<string> {
  const id = await partner.newLoan();
  await partner.register(id);
  return id;
}

describe('with internal signing', () => {
  test('the finalised document alone concludes the signing, and no document event ever comes', async () => {
    const partner = await world.partner();
    const id = await partner.newLoan();
    await expectConflict(partner, pathOf(id, 'documentos'), packageOf(), 'em_assinatura', 'internal');
    await expectConflict(partner, pathOf(id, 'documentos-dataprev'), packageOf(), 'em_assinatura');
    await expectConflict(partner, pathOf(id, 'documentos/selfie'), contentOf('selfie'), 'em_assinatura');
    await partner.accepted(`/v1/sandbox/emprestimos/${id}/assinatura`);
    await partner.register(id);
    await partner.disburse(id);
    await expectConflict(partner, pathOf(id, 'documentos-dataprev'), packageOf(), 'desembolsada');
    const events = await partner.received();
    expect(namesOf(events)).toEqual(['assinatura.concluida', 'averbacao.concluida', 'desembolso.liquidado']);
    expect(dataOf(events, 'assinatura.concluida')).toEqual([{ emprestimo_id: id, tipo_assinatura: 'internal' }]);
    expect(await partner.read(id)).toMatchObject({ status: 'desembolsada', entrega_docs_registry: null });
  });
});

describe('with grouped delivery', () => {
  test('the whole package concludes the signing before the registration, and nothing is left pending', async () => {
    const partner = await world.partner(EXTERNAL_GROUPED);
    const id = await partner.newLoan();
    await expectConflict(partner, pathOf(id, 'averbacao'), undefined, 'em_assinatura');
    const loan = await partner.accepted(pathOf(id, 'documentos'), packageOf());
    expect(loan).toMatchObject({
      status: 'aguardando_averbacao',
      proxima_acao: 'averbar',
      ccb_assinada_recebida: true,
      entrega_docs_registry: null,
    });
    expect(loan).toEqual(await partner.read(id));
    await expectConflict(partner, pathOf(id, 'documentos'), packageOf(), 'aguardando_averbacao');
    await partner.register(id);
    await expectConflict(partner, pathOf(id, 'documentos-dataprev'), packageOf(), 'averbada');
    await expectConflict(partner, pathOf(id, 'documentos/selfie'), contentOf('selfie'), 'averbada');
    await partner.disburse(id);
    const events = await partner.received();
    expect(namesOf(events)).toEqual(['assinatura.concluida', 'averbacao.concluida', 'desembolso.liquidado']);
    expect(dataOf(events, 'assinatura.concluida')).toEqual([{ emprestimo_id: id, tipo_assinatura: 'externa' }]);
    for (const name of NEVER_IN_GROUPED_OR_INTERNAL) expect(namesOf(events)).not.toContain(name);
  });

  test('an incomplete package is 400 and names what is missing; nothing of it is kept', async () => {
    const partner = await world.partner(EXTERNAL_GROUPED);
    const id = await partner.newLoan();
    const answer = await partner.post(pathOf(id, 'documentos'), packageOf(['ccb_assinada', 'selfie', 'evidencias']));
    expect([answer.status, answer.body.codigo]).toEqual([400, 'ERRO_VALIDACAO']);
    expect(answer.body.detalhes).toEqual([
      { campo: 'documentos', mensagem: 'falta a peça documento_frente' },
      { campo: 'documentos', mensagem: 'falta a peça documento_verso' },
    ]);
    const empty = await partner.post(pathOf(id, 'documentos'), { documentos: [] });
    expect([empty.status, empty.body.detalhes]).toMatchObject([400, { length: 5 }]);
    expect(await archiveOf(id)).toEqual([]);
    expect(await partner.read(id)).toMatchObject({ status: 'em_assinatura', versao: 1 });
    expect(await partner.received()).toEqual([]);
  });

  test('every piece is archived with its type and digest, and the log holds the digest alone', async () => {
    const partner = await world.partner(EXTERNAL_GROUPED);
    const id = await partner.newLoan();
    const { documentos } = packageOf();
    await partner.accepted(pathOf(id, 'documentos'), {
      documentos: documentos.map(({ tipo, conteudo_base64, nome_arquivo }) =>
        tipo === 'selfie' ? { tipo, conteudo_base64 } : { tipo, conteudo_base64, nome_arquivo },
      ),
    });
    const row = (type: keyof typeof CONTENTS, media: string, name: string | null = `${type}.bin`) => ({
      type,
      name,
      media,
      sha256: sha256Of(CONTENTS[type]),
    });
    expect(await archiveOf(id)).toEqual([
      row('ccb_assinada', 'application/pdf'),
      row('documento_frente', 'image/png'),
      row('documento_verso', 'image/png'),
      row('evidencias', 'application/pdf'),
      row('selfie', 'image/jpeg', null),
    ]);
    const events = await world.api.database.sql<{ data: unknown }[]>`
      select data from events where stream = ${id} and type = 'documento.recebido' order by version`;
    expect(events.map(({ data }) => data)).toEqual(
      DOCUMENT_TYPES.map((tipo) => ({ emprestimo_id: id, tipo, sha256: sha256Of(CONTENTS[tipo]) })),
    );
  });
});

describe('with deferred delivery', () => {
  test('the CCB ahead leaves the signing pending once, and the batch of the rest ends both', async () => {
    const partner = await world.partner(EXTERNAL_DEFERRED);
    const id = await partner.newLoan();
    await expectConflict(partner, pathOf(id, 'documentos-dataprev'), packageOf(), 'em_assinatura');
    const ahead = await partner.accepted(pathOf(id, 'documentos'), packageOf(['ccb_assinada']));
    expect(ahead).toMatchObject({ status: 'aguardando_averbacao', ccb_assinada_recebida: true });
    await expectConflict(partner, pathOf(id, 'documentos'), packageOf(['ccb_assinada']), 'aguardando_averbacao');
    await expectConflict(partner, pathOf(id, 'documentos/selfie'), contentOf('selfie'), 'aguardando_averbacao');
    await partner.register(id);
    expect(await partner.read(id)).toMatchObject({
      status: 'averbada',
      entrega_docs_registry: { situacao: 'aguardando', documentos_pendentes: REMAINING, recebido_em: null },
    });
    const incomplete = await partner.post(pathOf(id, 'documentos-dataprev'), packageOf(REMAINING.slice(1)));
    expect([incomplete.status, incomplete.body.detalhes]).toEqual([
      400,
      [{ campo: 'documentos', mensagem: 'falta a peça selfie' }],
    ]);
    const again = await partner.post(pathOf(id, 'documentos-dataprev'), packageOf());
    expect([again.status, again.body.detalhes?.[0]?.campo]).toEqual([400, 'documentos[0].tipo']);
    const before = await partner.received();
    expect(namesOf(before)).toEqual(['assinatura.pendente', 'docs_registry.pendente', 'averbacao.concluida']);
    const done = await partner.accepted(pathOf(id, 'documentos-dataprev'), packageOf(REMAINING));
    expect(done).toMatchObject({
      status: 'averbada',
      entrega_docs_registry: { situacao: 'recebido', documentos_pendentes: [] },
    });
    expect(done.entrega_docs_registry?.recebido_em).toBe(done.atualizado_em);
    await expectConflict(partner, pathOf(id, 'documentos-dataprev'), packageOf(REMAINING), 'recebido');
    const events = await partner.received();
    const named = { emprestimo_id: id, numero_emprestimo: done.numero };
    expect(dataOf(events, 'assinatura.pendente')).toEqual([{ ...named, ccb_assinada_recebida: true }]);
    expect(dataOf(events, 'docs_registry.pendente')).toEqual([{ ...named, prazo: done.entrega_docs_registry?.prazo }]);
    expect(dataOf(events, 'docs_registry.recebido')).toEqual([named]);
    expect(dataOf(events, 'assinatura.concluida')).toEqual([{ emprestimo_id: id, tipo_assinatura: 'externa' }]);
    expect(events).toHaveLength(5);
    expect(await archiveOf(id)).toHaveLength(5);
  });

  test('straight to the registration leaves the signing pending once, and the last single piece ends both', async () => {
    const partner = await world.partner(EXTERNAL_DEFERRED);
    const id = await awaitingDocuments(partner);
    for (const [index, type] of DOCUMENT_TYPES.entries()) {
      expect(namesOf(await partner.received())).not.toContain('docs_registry.recebido');
      const loan = await partner.accepted(pathOf(id, `documentos/${type}`), contentOf(type));
      expect(loan.entrega_docs_registry?.documentos_pendentes).toEqual(DOCUMENT_TYPES.slice(index + 1));
      await expectConflict(partner, pathOf(id, `documentos/${type}`), contentOf(type), 'averbada');
    }
    const events = await partner.received();
    expect(namesOf(events)).toEqual([
      'assinatura.concluida',
      'assinatura.pendente',
      'docs_registry.pendente',
      'docs_registry.recebido',
      'averbacao.concluida',
    ]);
    expect(dataOf(events, 'assinatura.pendente')).toMatchObject([{ ccb_assinada_recebida: false }]);
    const [together] = await world.api.database.sql`
      select count(distinct tx)::int as transactions from events
      where stream = ${id} and type in ('docs_registry.recebido', 'assinatura.concluida')`;
    expect(together).toEqual({ transactions: 1 });
  });
});

describe('commands that meet on one loan', () => {
  test('every single piece and the disbursement, all at once, are all taken, and the obligation ends once', async () => {
    const partner = await world.partner(EXTERNAL_DEFERRED);
    const id = await awaitingDocuments(partner);
    const all = await Promise.all([
      partner.disburse(id),
      ...DOCUMENT_TYPES.map((type) => partner.post(pathOf(id, `documentos/${type}`), contentOf(type))),
    ]);
    expect(all.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
    const names = namesOf(await partner.received());
    for (const name of ['docs_registry.recebido', 'assinatura.concluida', 'desembolso.liquidado'])
      expect(names.filter((each) => each === name)).toHaveLength(1);
    expect(await partner.read(id)).toMatchObject({
      status: 'desembolsada',
      entrega_docs_registry: { situacao: 'recebido' },
    });
  });
});

describe('what cannot be archived', () => {
  test("is 404 on another partner's loan, an unknown one and an unknown tipo, before its body is read", async () => {
    const owner = await world.partner(EXTERNAL_DEFERRED);
    const id = await awaitingDocuments(owner);
    const stranger = await world.partner(EXTERNAL_DEFERRED);
    const unread = { 'Content-Type': 'text/plain', 'Content-Length': String(2 ** 40) };
    const asked: [TestPartner, string][] = [
      ...['documentos', 'documentos-dataprev', 'documentos/selfie'].map((rest): [TestPartner, string] => [
        stranger,
        pathOf(id, rest),
      ]),
      [owner, pathOf('x', 'documentos')],
      [owner, pathOf('0198a000-0000-7000-8000-000000000001', 'documentos')],
      ...['passaporte', 'Selfie', 'toString', '%00'].map((tipo): [TestPartner, string] => [
        owner,
        pathOf(id, `documentos/${tipo}`),
      ]),
    ];
    for (const [{ token }, path] of asked) {
      const answer = await world.api.send('POST', path, { token, headers: unread, body: 'x' });
      expect([path, answer.status, answer.body.codigo]).toEqual([path, 404, 'NAO_ENCONTRADO']);
    }
    expect(await archiveOf(id)).toEqual([]);
  });

  test('over 56 MiB is 413, whether or not its length was announced', async () => {
    const partner = await world.partner(EXTERNAL_DEFERRED);
    const path = pathOf(await partner.newLoan(), 'documentos');
    const { token } = partner;
    const headers = { 'Content-Length': String(56 * 1024 * 1024 + 1) };
    const announced = await world.api.send('POST', path, { token, headers, body: '{}' });
    expect([announced.status, announced.body.codigo]).toEqual([413, 'CORPO_MUITO_GRANDE']);
    const silent = await world.api.send('POST', path, {
      token,
      headers: { 'Transfer-Encoding': 'chunked', 'Content-Length': '' },
      body: Buffer.alloc(56 * 1024 * 1024 + 1, ' '),
    });
    expect([silent.status, silent.body.codigo]).toEqual([413, 'CORPO_MUITO_GRANDE']);
  });

  test('a large body of countless values is refused before it is parsed', async () => {
    const partner = await world.partner(EXTERNAL_DEFERRED);
    const path = pathOf(await partner.newLoan(), 'documentos');
    for (const piece of ['{},', '[', '0,']) {
      const answer = await world.api.send('POST', path, { token: partner.token, body: Buffer.alloc(50e6, piece) });
      expect([answer.status, answer.body.mensagem]).toEqual([400, 'o corpo tem valores demais']);
    }
  });

  test.each([
    ['no list', {}, ['documentos']],
    ['an unknown tipo', { documentos: [{ tipo: 'passaporte', ...contentOf('selfie') }] }, ['documentos[0].tipo']],
    [
      'an unknown field',
      { documentos: [{ tipo: 'selfie', ...contentOf('selfie'), sha256: 'x' }] },
      ['documentos[0].sha256'],
    ],
    ['no content', { documentos: [{ tipo: 'selfie' }] }, ['documentos[0].conteudo_base64']],
    [
      'bad content, each piece named',
      { documentos: [...packageOf(['selfie']).documentos, { tipo: 'evidencias', conteudo_base64: 'YQ' }] },
      ['documentos[1].conteudo_base64'],
    ],
    [
      'an empty name',
      { documentos: [{ tipo: 'selfie', nome_arquivo: '', ...contentOf('selfie') }] },
      ['documentos[0].nome_arquivo'],
    ],
  ])('with %s is 400 and names the field', async (_what, body, fields) => {
    const partner = await world.partner(EXTERNAL_GROUPED);
    const answer = await partner.post(pathOf(await partner.newLoan(), 'documentos'), body);
    expect([answer.status, answer.body.codigo]).toEqual([400, 'ERRO_VALIDACAO']);
    expect(answer.body.detalhes?.map(({ campo }) => campo)).toEqual(fields);
  });

  test('names conteudo_base64 alone where the type is in the path', async () => {
    const partner = await world.partner(EXTERNAL_DEFERRED);
    const path = pathOf(await awaitingDocuments(partner), 'documentos/selfie');
    const answer = await partner.post(path, { conteudo_base64: 'R0lGODlh' });
    expect([answer.status, answer.body.detalhes]).toEqual([
      400,
      [{ campo: 'conteudo_base64', mensagem: 'deve ser um PDF, um JPEG ou um PNG' }],
    ]);
    expect((await partner.post(path, { tipo: 'selfie', ...contentOf('selfie') })).status).toBe(400);
  });
});

test('five pieces of 8 MiB each are archived, and one byte more is refused', async () => {
  const partner = await world.partner(EXTERNAL_GROUPED);
  const id = await partner.newLoan();
  const largest = Buffer.alloc(8 * 1024 * 1024, 7);
  CONTENTS.ccb_assinada.copy(largest);
  const send = async (bytes: Buffer) => {
    const conteudo_base64 = bytes.toString('base64');
    return partner.post(pathOf(id, 'documentos'), {
      documentos: DOCUMENT_TYPES.map((tipo) => ({ tipo, conteudo_base64 })),
    });
  };
  const over = await send(Buffer.concat([largest, Buffer.alloc(1)]));
  expect([over.status, over.body.detalhes?.[0]]).toEqual([
    400,
    { campo: 'documentos[0].conteudo_base64', mensagem: 'tem no máximo 8 MiB depois de decodificado' },
  ]);
  expect((await send(largest)).status).toBe(200);
  const rows = await world.api.database.sql`
    select distinct octet_length(content) as bytes, encode(sha256, 'hex') as sha256 from documents where loan_id = ${id}`;
  expect(rows).toEqual([{ bytes: largest.length, sha256: sha256Of(largest) }]);
});
