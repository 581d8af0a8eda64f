/** `LOAN_CORE=outside`: partners read loans and write none. */
import { expect, test } from 'vitest';
import type { ApiDescription } from '../support/description.ts';
import { type PartnerWorld, startPartnerWorld, TERMS } from '../support/partner-world.ts';

const WRITES = [
  'post /v1/emprestimos',
  'post /v1/emprestimos/{id}/averbacao',
  'post /v1/emprestimos/{id}/documentos',
  'post /v1/emprestimos/{id}/documentos-dataprev',
  'post /v1/emprestimos/{id}/documentos/{tipo}',
  'post /v1/margem/consulta',
];
const own = await startPartnerWorld({ sandbox: null });
const outside = await startPartnerWorld({ sandbox: null, loanCore: 'outside' });

async function operationsOf({ api }: PartnerWorld): Promise<string[]> {
  const { paths } = (await (await api.app.request('/openapi.json?para=tudo')).json()) as ApiDescription;
  return Object.entries(paths).flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method} ${path}`));
}

test('the description loses what partners write of loans, and nothing else', async () => {
  const [all, left] = [await operationsOf(own), await operationsOf(outside)];
  expect(all.filter((operation) => !left.includes(operation)).toSorted()).toEqual(WRITES);
  expect(left.filter((operation) => !all.includes(operation))).toEqual([]);
});

test('each of them is 404, also where its path can be read, and the readings stay', async () => {
  const partner = await outside.partner();
  const token = await outside.api.token(undefined, ['nucleo']);
  const body = { parceiro_id: partner.id, ...TERMS };
  const loan = await outside.api.send<{ id: string }>('POST', '/v1/nucleo/emprestimos', { token, body });
  for (const write of WRITES) {
    const path = (write.split(' ')[1] ?? '').replace('{id}', loan.body.id).replace('{tipo}', 'selfie');
    const answer = await partner.post(path, {});
    expect([path, answer.status, answer.body.codigo]).toEqual([path, 404, 'NAO_ENCONTRADO']);
  }
  expect(await partner.read(loan.body.id)).toEqual(loan.body);
  const path = `/v1/emprestimos/${loan.body.id}/averbacao`;
  const other = await outside.api.send('PUT', path, { token: partner.token });
  expect([other.status, other.headers.get('Allow')]).toEqual([405, 'GET, HEAD']);
});
