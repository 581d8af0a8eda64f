/** The worker's acceptance, as the sandbox plays it. */
import { describe, expect, test } from 'vitest';
import type { ErrorBody } from '../../src/contract/errors.ts';
import { authorizationConfirmed } from '../../src/contract/payloads.ts';
import { startApi } from '../support/api.ts';

const PATH = '/v1/sandbox/autorizacoes';
const CPF = '52998224725';
const api = await startApi();

const confirm = async (token: string, body: unknown) =>
  api.send<Record<string, unknown> & ErrorBody>('POST', PATH, { token, body });

describe('POST /v1/sandbox/autorizacoes', () => {
  test.each(['web', 'mensageria'])('confirms an authorization that came by %s', async (origem) => {
    const partnerId = await api.partner();
    const token = await api.token(partnerId, ['sandbox']);
    const { status, body, headers } = await confirm(token, { cpf_trabalhador: CPF, origem });
    expect(status).toBe(201);
    expect(authorizationConfirmed.parse(body)).toEqual(body);
    expect(body).toMatchObject({ cpf_trabalhador: CPF, status: 'confirmada', origem });
    const events = await api.database.sql`
      select stream, version, type, data, request_id from events where partner_id = ${partnerId}`;
    expect(events).toEqual([
      {
        stream: body['autorizacao_id'],
        version: 1,
        type: 'autorizacao.confirmada',
        data: body,
        request_id: headers.get('X-Request-Id'),
      },
    ]);
  });

  test('makes an authorization of its own each time the worker accepts', async () => {
    const token = await api.token(await api.partner(), ['sandbox']);
    const body = { cpf_trabalhador: CPF, origem: 'web' };
    const ids = [await confirm(token, body), await confirm(token, body)].map((answer) => answer.body['autorizacao_id']);
    expect(new Set(ids).size).toBe(2);
  });

  test.each([
    [{}, ['cpf_trabalhador', 'origem']],
    [{ cpf_trabalhador: CPF, origem: 'sms' }, ['origem']],
    [{ cpf_trabalhador: '52998224724', origem: 'web' }, ['cpf_trabalhador']],
    [{ cpf_trabalhador: CPF, origem: 'web', status: 'confirmada' }, ['status']],
  ])('refuses %j', async (body, fields) => {
    const token = await api.token(await api.partner(), ['sandbox']);
    const answer = await confirm(token, body);
    expect([answer.status, answer.body.detalhes?.map(({ campo }) => campo)]).toEqual([400, fields]);
  });
});
