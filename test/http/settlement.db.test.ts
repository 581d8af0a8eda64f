/** The monthly batch from the sandbox's call to the partner's receiver. */
import { beforeEach, expect, test } from 'vitest';
import { addDays, dayOf, monthsBefore, startOfDay } from '../../src/contract/calendar.ts';
import { issueLoanAt } from '../core/loan-world.ts';
import { startPartnerWorld, TERMS, type TestPartner } from '../support/partner-world.ts';

const PATH = '/v1/sandbox/repasses';
const TODAY = dayOf(new Date());
/** Of months that are over, and that the sandbox still takes a transfer in. */
const FIRST_DAY = `${monthsBefore(TODAY, 3).slice(0, 7)}-01`;
const MONTH = monthsBefore(TODAY, 2).slice(0, 7);
let partner: TestPartner;

const world = await startPartnerWorld();
beforeEach(async () => {
  partner = await world.partner();
});

async function disburse(on: string): Promise<void> {
  const provenance = { partnerId: partner.id, actor: 'test', requestId: null };
  const { id } = await issueLoanAt(world.api.database.pool, provenance, startOfDay(on), TERMS);
  await partner.accepted(`/v1/sandbox/emprestimos/${id}/assinatura`);
  await partner.register(id);
  const answer = await partner.disburse(id, { resultado: 'liquidado', data_liberacao: on });
  expect(answer.body).toMatchObject({ status: 'desembolsada', data_liberacao: on });
}

/** The data of every repasse.processado that came in, field by field. */
async function settlements(): Promise<[string, unknown][][]> {
  const events = await partner.received();
  return events.filter(({ evento }) => evento === 'repasse.processado').map(({ data }) => Object.entries(data));
}

interface Settlement {
  readonly repasse_id: string;
  readonly fechado_em: string;
}
const close = (competencia: unknown) =>
  world.api.send<Settlement>('POST', PATH, { token: partner.token, body: { competencia } });

test('repasse.processado reaches the receiver with every field of the catalog in order, and once', async () => {
  await disburse(addDays(FIRST_DAY, -1));
  await disburse(FIRST_DAY);
  const closed = await close(MONTH);
  const settlement = {
    repasse_id: expect.any(String),
    competencia: MONTH,
    total_parcelas: 2,
    numero_ccbs: 2,
    valor_total: 240.1,
    fechado_em: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  };
  expect([closed.status, closed.body]).toEqual([200, { ...settlement, ja_fechado: false }]);
  const fields = Object.entries({
    ...settlement,
    repasse_id: closed.body.repasse_id,
    fechado_em: closed.body.fechado_em,
  });
  expect(await settlements()).toEqual([fields]);
  const again = await close(MONTH);
  expect([again.status, again.body]).toEqual([200, { ...closed.body, ja_fechado: true }]);
  expect(await settlements()).toEqual([fields]);
});

test.each([undefined, null, 202_602, '2026-2', '2026-13', '2026-02-01', ''])('%j is no month', async (competencia) => {
  const answer = await partner.post(PATH, { competencia });
  expect([answer.status, answer.body.detalhes?.[0]?.campo]).toEqual([400, 'competencia']);
});
