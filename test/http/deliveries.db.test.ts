import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { DeliveryResource, DeliveryWithAttempts } from '../../src/contract/resources/delivery-resource.ts';
import { DELIVERY_STATUSES } from '../../src/contract/statuses.ts';
import type { ErrorBody } from '../../src/contract/errors.ts';
import { startDeliveryWorld, useSubscriber } from '../support/delivery-world.ts';
import { commitEvents, insertClaim, readAttempts, readDeliveries } from '../support/outbox.ts';
import { itemsOf, type Page as PageOf, pagesOf } from '../support/pages.ts';
import { status } from '../support/receiver.ts';
import { FAILED_MARGIN, PROCESSED_SETTLEMENT } from '../support/payloads.ts';

type Page = PageOf<DeliveryResource>;
interface Resent {
  readonly simulado: boolean;
  readonly entregas: number;
  readonly em_andamento: number;
  readonly proximo_cursor: string | null;
}

const world = await startDeliveryWorld();
const { sql } = world.api.database;
const { partner, webhook } = useSubscriber(world);

const list = (query = '') => partner.send<Page & ErrorBody>('GET', `/v1/webhooks/${webhook.id}/entregas${query}`);
const resendMany = (body: unknown) =>
  partner.send<Resent & ErrorBody>('POST', `/v1/webhooks/${webhook.id}/reenvios`, body);
const idOf = async (index = 0) => (await readDeliveries(world.api.database.sql, webhook.id))[index]?.id as string;

/** Delivers one event that is answered by `code`, and returns its delivery's id. */
async function delivered(code: number, body = ''): Promise<string> {
  world.receiver.answerWith(status(code, body), webhook.path);
  await partner.emit();
  await world.deliver();
  world.receiver.answerWith(status(200), webhook.path);
  return (await readDeliveries(world.api.database.sql, webhook.id)).at(-1)?.id as string;
}

/** Puts a delivery at the end of its schedule. */
const exhaust = (id: string) => world.api.database.sql`
  update deliveries set status = 'erro', failures = 6, attempts = 6, next_attempt_at = null, finished_at = now() where id = ${id}`;

/** How long after the end of `attempt` the next one is due, in milliseconds. */
function waitAfter(attempt: DeliveryWithAttempts['tentativas'][number] | undefined, next: string | null): number {
  const { inicio, duracao_ms: durationMs } = attempt ?? {};
  if (inicio == null || durationMs == null || next === null) throw new Error('there is no attempt, or none after it');
  return Date.parse(next) - Date.parse(inicio) - durationMs;
}

describe('the list of deliveries', () => {
  test('shows each with its loan and version, newest first', async () => {
    const loans = [await partner.emit(), await partner.emit()];
    await world.deliver();
    const { status: code, body } = await list();
    expect(code).toBe(200);
    expect(body.itens.map((item) => item.emprestimo_id)).toEqual(loans.toReversed());
    expect(body.itens[0]).toEqual({
      id: await idOf(1),
      webhook_id: webhook.id,
      evento_id: expect.any(String),
      evento: 'desembolso.falhou',
      emprestimo_id: loans[1],
      versao_emprestimo: 1,
      status: 'entregue',
      total_tentativas: 1,
      ultimo_resultado: 'entregue',
      ultimo_status_http: 200,
      em_andamento: false,
      proxima_tentativa_em: null,
      criada_em: expect.stringMatching(/Z$/),
      concluida_em: expect.stringMatching(/Z$/),
      teste: false,
    });
    expect(body.proximo_cursor).toBeNull();
  });

  test('goes on page by page without a gap or a repetition, while new ones are made', async () => {
    const loans: string[] = [];
    for (let count = 0; count < 7; count += 1) loans.push(await partner.emit());
    const pages: (readonly DeliveryResource[])[] = [];
    for await (const page of pagesOf(list, '?limite=3')) {
      pages.push(page);
      await partner.emit();
    }
    expect(pages.map(({ length }) => length)).toEqual([3, 3, 1]);
    expect(pages.flat().map((item) => item.emprestimo_id)).toEqual(loans.toReversed());
  });

  test('filters by status, event, loan and period', async () => {
    const failed = await delivered(500);
    await exhaust(failed);
    await delivered(200);
    const loan = await partner.emit();
    await world.api.database.sql`
      select append_event(uuidv7(), 0, 'margem.falhou', ${partner.id}, ${FAILED_MARGIN}::text::json, 'test')`;
    const count = async (query: string) => (await list(query)).body.itens.length;
    expect((await list('?status=erro')).body.itens.map((item) => item.id)).toEqual([failed]);
    expect([await count('?status=entregue'), await count('?status=pendente'), await count('?status=suspensa')]).toEqual(
      [1, 2, 0],
    );
    expect([await count('?evento=margem.falhou'), await count('?evento=desembolso.falhou')]).toEqual([1, 3]);
    expect((await list('?evento=margem.falhou')).body.itens[0]).toMatchObject({
      emprestimo_id: null,
      versao_emprestimo: null,
    });
    expect((await list(`?emprestimo_id=${loan}`)).body.itens.map((item) => item.emprestimo_id)).toEqual([loan]);
    expect(await count(`?emprestimo_id=${loan}&status=erro`)).toBe(0);
    const made = (await list(`?emprestimo_id=${loan}`)).body.itens[0]?.criada_em as string;
    expect([await count(`?desde=${made}`), await count(`?ate=${made}`)]).toEqual([2, 3]);
    expect([
      await count('?desde=2999-01-01'),
      await count('?ate=2001-01-01'),
      await count('?desde=2001-01-01'),
    ]).toEqual([0, 0, 4]);
  });

  test('of a rare status goes on over pages that may be empty, and misses nothing', async () => {
    await delivered(200);
    await commitEvents(sql, partner.id, 5050);
    const first = (await list('?status=entregue')).body;
    expect([first.itens.length, typeof first.proximo_cursor]).toEqual([0, 'string']);
    const second = (await list(`?status=entregue&cursor=${first.proximo_cursor}`)).body;
    expect([second.itens.length, second.proximo_cursor]).toEqual([1, null]);
    await partner.send('DELETE', `/v1/webhooks/${webhook.id}`);
  });

  test.each([
    ['?status=x', 'status'],
    ['?evento=repasse.pago', 'evento'],
    ['?emprestimo_id=1', 'emprestimo_id'],
    ['?desde=ontem', 'desde'],
    ['?limite=0', 'limite'],
    ['?limite=501', 'limite'],
    ['?cursor=abc', 'cursor'],
  ])('refuses %s', async (query, campo) => {
    const answer = await list(query);
    expect([answer.status, answer.body.detalhes?.map((detail) => detail.campo)]).toEqual([400, [campo]]);
  });

  test('takes no cursor of another list', async () => {
    for (let count = 0; count < 2; count += 1) await partner.emit();
    const { proximo_cursor: cursor } = (await list('?limite=1')).body;
    const other = await partner.register();
    const answer = await partner.send('GET', `/v1/webhooks/${other.id}/entregas?cursor=${cursor}`);
    expect(answer.status).toBe(400);
    expect((await list(`?status=erro&cursor=${cursor}`)).status).toBe(400);
    expect((await list(`?limite=2&cursor=${cursor}`)).status).toBe(200);
  });
});

describe('the last outcome', () => {
  const all = (query = '') => partner.send<Page & ErrorBody>('GET', `/v1/entregas${query}`);

  test('is shown in every list and searched for, by outcome and by status code', async () => {
    const [bad, good] = [await delivered(503), await delivered(200)];
    await partner.emit();
    const shown = (await list()).body.itens.map((item) => [item.ultimo_resultado, item.ultimo_status_http]);
    expect(shown).toEqual([
      [null, null],
      ['entregue', 200],
      ['resposta_nao_2xx', 503],
    ]);
    const ids = async (query: string) => (await list(query)).body.itens.map((item) => item.id);
    expect(await ids('?resultado=resposta_nao_2xx')).toEqual([bad]);
    expect(await ids('?status_http=200')).toEqual([good]);
    expect(await ids('?status_http=503&status=entregue')).toEqual([]);
    expect((await all('?status_http=503')).body.itens.map((item) => item.id)).toEqual([bad]);
    for (const query of ['?status_http=99', '?status_http=600', '?status_http=abc', '?resultado=x']) {
      expect((await all(query)).body.codigo).toBe('ERRO_VALIDACAO');
    }
  });

  test('is the newest one, but of a delivered one the one that delivered it', async () => {
    const id = await delivered(500);
    await sql`
      insert into attempts (delivery_id, number, late, webhook_id, partner_id, outcome, started_at, duration_ms, url, claim)
      values (${id}, 2, false, ${webhook.id}, ${partner.id}, 'desconhecido', now(), null, ${webhook.url}, 'p'),
             (${id}, 2, true, ${webhook.id}, ${partner.id}, 'erro_conexao', now(), 5, ${webhook.url}, 'p')`;
    expect((await list()).body.itens[0]).toMatchObject({ ultimo_resultado: 'erro_conexao', ultimo_status_http: null });
    await sql`
      insert into attempts (delivery_id, number, late, webhook_id, partner_id, outcome, status_code, started_at, duration_ms, url, claim)
      values (${id}, 1, true, ${webhook.id}, ${partner.id}, 'entregue', 204, now(), 5, ${webhook.url}, 'p')`;
    expect((await list()).body.itens[0]).toMatchObject({ ultimo_resultado: 'erro_conexao' });
    await sql`
      update deliveries set status = 'entregue', next_attempt_at = null, finished_at = now() where id = ${id}`;
    expect((await list()).body.itens[0]).toMatchObject({ ultimo_resultado: 'entregue', ultimo_status_http: 204 });
  });
});

describe('the list over all webhooks', () => {
  const all = (query = '') => partner.send<Page & ErrorBody>('GET', `/v1/entregas${query}`);
  const placeOf = ({ evento_id, webhook_id }: DeliveryResource) => `${evento_id} ${webhook_id}`;

  test.each([1, 3, 500])('brings each delivery once, newest first, by pages of %i', async (limit) => {
    const others = [await partner.register(['margem.falhou']), await partner.register(['desembolso.falhou'])];
    for (let count = 0; count < 4; count += 1) {
      await partner.emit();
      await world.api.database.sql`
        select append_event(uuidv7(), 0, 'margem.falhou', ${partner.id}, ${FAILED_MARGIN}::text::json, 'test')`;
    }
    await partner.send('DELETE', `/v1/webhooks/${others[0]?.id}`);
    await (await world.subscriber()).register();
    const seen = (await itemsOf(all, `?limite=${limit}`)).map(placeOf);
    expect(seen).toHaveLength(16);
    expect(seen).toEqual([...new Set(seen)].toSorted().toReversed());
  });

  test('misses nothing where one webhook has all the rows and another one old match', async () => {
    const rare = await partner.register(['repasse.processado']);
    await sql`select append_event(uuidv7(), 0, 'repasse.processado', ${partner.id}, ${PROCESSED_SETTLEMENT}::text::json, 'test')`;
    await commitEvents(sql, partner.id, 2600);
    const found = await itemsOf(all, '?evento=repasse.processado');
    expect(found.map((item) => item.webhook_id).toSorted()).toEqual([webhook.id, rare.id].toSorted());
    await partner.send('DELETE', `/v1/webhooks/${webhook.id}`);
  });

  test('is empty without webhooks, and takes no cursor of another list', async () => {
    const newcomer = await world.subscriber();
    expect((await newcomer.send('GET', '/v1/entregas')).body).toEqual({ itens: [], proximo_cursor: null });
    for (let count = 0; count < 2; count += 1) await partner.emit();
    const { proximo_cursor: cursor } = (await all('?limite=1')).body;
    expect((await list(`?cursor=${cursor}`)).status).toBe(400);
    expect((await all(`?resultado=entregue&cursor=${cursor}`)).status).toBe(400);
    expect((await newcomer.send('GET', `/v1/entregas?cursor=${cursor}`)).status).toBe(400);
  });
});

describe('deliveries as a file', () => {
  test('are all that the list has, in its order and its columns, behind no page', async () => {
    for (let count = 0; count < 3; count += 1) await partner.emit();
    await world.deliver();
    const path = `/v1/webhooks/${webhook.id}/entregas`;
    const { itens } = (await partner.send<{ itens: DeliveryResource[] }>('GET', path)).body;
    const { headers, text } = await partner.send('GET', `${path}?formato=csv&bom=true&limite=1&status=entregue`);
    expect(headers.get('Content-Type')).toBe('text/csv; charset=utf-8; header=present');
    expect(headers.get('Content-Disposition')).toBe('attachment; filename="entregas.csv"');
    const [head, ...lines] = text.trimEnd().split('\r\n');
    expect(head).toBe(Object.keys(itens[0] ?? {}).join(','));
    expect(lines).toEqual(
      itens.map((item) =>
        Object.values(item)
          .map((value) => value ?? '')
          .join(','),
      ),
    );
    expect(lines).toHaveLength(3);
    expect((await partner.send('GET', `/v1/entregas?formato=csv&evento=trabalhador.desligado`)).text).toBe(
      `${head}\r\n`,
    );
    expect((await partner.send('GET', `${path}?formato=xml`)).status).toBe(400);
  });
});

describe('one delivery', () => {
  test('is shown with its attempts, what was answered, and when it is tried next', async () => {
    const id = await delivered(503, 'cpf 529.982.247-25 recusado');
    const { tentativas, ...delivery } = await partner.read(id);
    expect(delivery).toMatchObject({
      id,
      status: 'pendente',
      total_tentativas: 1,
      em_andamento: false,
      concluida_em: null,
    });
    expect(tentativas).toMatchObject([
      {
        numero: 1,
        inicio: expect.stringMatching(/Z$/),
        duracao_ms: expect.any(Number),
        resultado: 'resposta_nao_2xx',
        status_http: 503,
        erro: null,
        resposta_cabecalhos: [{ nome: 'date', valor: expect.stringMatching(/ GMT$/) }],
        resposta: 'cpf *********** recusado',
        atrasada: false,
      },
    ]);
    expect(waitAfter(tentativas[0], delivery.proxima_tentativa_em)).toBeGreaterThanOrEqual(59_990);
    expect(waitAfter(tentativas[0], delivery.proxima_tentativa_em)).toBeLessThanOrEqual(60_010);
  });
});

describe('a resend of one', () => {
  const resend = (id: string) => partner.send<DeliveryWithAttempts & ErrorBody>('POST', `/v1/entregas/${id}/reenvio`);

  test.each(['entregue', 'erro', 'pendente'])('sends it again from %s with the same id and bytes', async (from) => {
    const id = await delivered(from === 'entregue' ? 200 : 500);
    if (from === 'erro') await exhaust(id);
    const before = await partner.read(id);
    expect(before.status).toBe(from);
    const answer = await resend(id);
    expect([answer.status, answer.body.status, answer.body.concluida_em]).toEqual([202, 'pendente', null]);
    await world.deliver();
    const [first, second, ...more] = world.postsTo(webhook.path);
    expect(more).toEqual([]);
    expect(second?.headers['x-webhook-delivery']).toBe(id);
    expect(second?.body).toEqual(first?.body);
    expect(await partner.read(id)).toMatchObject({ status: 'entregue', total_tentativas: before.total_tentativas + 1 });
  });

  test('has the whole schedule before it', async () => {
    const id = await delivered(500);
    await exhaust(id);
    world.receiver.answerWith(status(500), webhook.path);
    await resend(id);
    await world.deliver();
    const [row] = await readDeliveries(world.api.database.sql, webhook.id);
    expect(row).toMatchObject({ status: 'pendente', failures: 1, attempts: 7 });
    const { tentativas, proxima_tentativa_em: next } = await partner.read(id);
    expect(waitAfter(tentativas.at(-1), next)).toBeLessThanOrEqual(60_010);
  });

  test('of one in flight ends that claim, whose lost row is written and whose late success still counts', async () => {
    const { promise: asked, resolve } = Promise.withResolvers<() => void>();
    world.receiver.answerWith((_post, response) => resolve(() => void response.writeHead(200).end()), webhook.path);
    await partner.emit();
    const turning = world.engine.poll();
    const answer = await asked;
    const id = await idOf();
    expect((await partner.read(id)).em_andamento).toBe(true);
    expect((await resend(id)).status).toBe(202);
    expect(await readAttempts(world.api.database.sql, id)).toMatchObject([{ number: 1, outcome: 'desconhecido' }]);
    answer();
    await turning;
    expect(await partner.read(id)).toMatchObject({ status: 'entregue', total_tentativas: 1 });
    expect(await readAttempts(world.api.database.sql, id)).toMatchObject([
      { late: false, outcome: 'desconhecido' },
      { late: true, outcome: 'entregue' },
    ]);
  });

  test('wants an active webhook', async () => {
    const id = await delivered(200);
    await partner.send('DELETE', `/v1/webhooks/${webhook.id}`);
    const answer = await resend(id);
    expect([answer.status, answer.body.codigo]).toEqual([409, 'TRANSICAO_INVALIDA']);
    expect((await partner.read(id)).status).toBe('entregue');
  });
});

describe('a resend of many', () => {
  test('counts when simulated, and sends what it counted when not', async () => {
    await exhaust(await delivered(500));
    await exhaust(await delivered(500));
    await delivered(200);
    const sent = world.postsTo(webhook.path).length;
    const erro = { desde: '2026-01-01', status: 'erro' };
    const simulated = { simulado: true, entregas: 2, em_andamento: 0, proximo_cursor: null };
    expect((await resendMany({ ...erro, simular: true })).body).toEqual(simulated);
    expect((await resendMany({ desde: '2026-01-01', simular: true, status: ['erro', 'entregue'] })).body.entregas).toBe(
      3,
    );
    await world.deliver();
    expect(world.postsTo(webhook.path)).toHaveLength(sent);
    expect((await resendMany(erro)).body).toEqual({ ...simulated, simulado: false });
    await world.deliver();
    expect(world.postsTo(webhook.path)).toHaveLength(sent + 2);
    const rows = await readDeliveries(world.api.database.sql, webhook.id);
    expect(rows).toMatchObject([
      { status: 'entregue', failures: 0 },
      { status: 'entregue', failures: 0 },
      { status: 'entregue' },
    ]);
  });

  test('without status means those that failed, and leaves alone what arrived or is pending', async () => {
    const ids = [await delivered(500), await delivered(500), await delivered(200), await delivered(500)];
    await exhaust(ids[0] as string);
    await sql`update deliveries set status = 'suspensa', next_attempt_at = null where id = ${ids[1] as string}`;
    expect((await resendMany({ desde: '2026-01-01' })).body).toMatchObject({ entregas: 2, em_andamento: 0 });
    await world.deliver();
    const posts = world.postsTo(webhook.path).map(({ headers }) => headers['x-webhook-delivery']);
    expect(ids.map((id) => posts.filter((post) => post === id).length)).toEqual([2, 2, 1, 1]);
  });

  test('keeps to its period and to several statuses', async () => {
    const ids = [await delivered(200)];
    await sleep(2);
    ids.push(await delivered(500));
    const { criada_em: second } = await partner.read(ids[1] as string);
    const count = async (body: object) => (await resendMany({ simular: true, ...body })).body.entregas;
    expect(await count({ desde: second, status: 'pendente' })).toBe(1);
    expect(
      await count({ status: 'entregue', desde: '2026-01-01', ate: new Date(Date.parse(second) - 1).toISOString() }),
    ).toBe(1);
    expect(await count({ desde: '2026-01-01', status: ['entregue', 'pendente'] })).toBe(2);
    expect(await count({ desde: '2026-01-01', status: ['suspensa'] })).toBe(0);
    const all = { desde: '2026-01-01', status: ['entregue', 'pendente'] };
    const { evento: event } = await partner.read(ids[0] as string);
    expect(await count({ ...all, eventos: [event] })).toBe(2);
    expect(await count({ ...all, eventos: ['repasse.processado'] })).toBe(0);
  });

  test('leaves what is in flight alone and says how many that are', async () => {
    await delivered(200);
    await partner.emit();
    const id = await idOf(1);
    await insertClaim(world.api.database.sql, 'other/1', [id]);
    const both = { desde: '2026-01-01', status: ['entregue', 'pendente'] };
    expect((await resendMany(both)).body).toMatchObject({ entregas: 1, em_andamento: 1 });
    expect(await readAttempts(world.api.database.sql, id)).toEqual([]);
  });

  test('of more than one batch resends each once, also taken up again at its cursor', async () => {
    await commitEvents(sql, partner.id, 2100);
    await sql`update deliveries set attempts = 1 where webhook_id = ${webhook.id}`;
    await sql`
      update deliveries set status = 'entregue', next_attempt_at = null, finished_at = now()
      where webhook_id = ${webhook.id}`;
    const { resendMany: resend } = await import('../../src/delivery/partner/resend.ts');
    const many = {
      partnerId: partner.id,
      webhookId: webhook.id,
      from: new Date(0),
      until: new Date(Date.now() + 1_000),
      statuses: DELIVERY_STATUSES,
      events: null,
      simulate: false,
      author: { actor: 'test', requestId: null },
    };
    const steps: number[] = [];
    let after: string | null = null;
    do {
      const done = await resend(world.api.database.pool, { ...many, after }, performance.now());
      if ('refused' in done) throw new Error('the webhook is inactive');
      steps.push(done.ok.count);
      after = done.ok.next;
    } while (after !== null);
    expect(steps).toEqual([1_000, 1_000, 100]);
    const rows = await readDeliveries(sql, webhook.id);
    expect(new Set(rows.map((row) => `${row.status} ${row.attempts} ${row.failures}`))).toEqual(
      new Set(['pendente 1 0']),
    );
    await partner.send('DELETE', `/v1/webhooks/${webhook.id}`);
  });

  test('wants an active webhook unless it only counts, and refuses what it does not know', async () => {
    await delivered(200);
    await partner.send('DELETE', `/v1/webhooks/${webhook.id}`);
    expect((await resendMany({ desde: '2026-01-01' })).body.codigo).toBe('TRANSICAO_INVALIDA');
    expect((await resendMany({ desde: '2026-01-01', simular: true, status: 'entregue' })).body.entregas).toBe(1);
    const bad: readonly [unknown, string][] = [
      [{}, 'desde'],
      [{ desde: 'x' }, 'desde'],
      [{ desde: '2026-01-01', status: 'x' }, 'status'],
      [{ desde: '2026-01-01', status: [] }, 'status'],
      [{ desde: '2026-01-01', status: ['erro', 'erro'] }, 'status'],
      [{ desde: '2026-01-01', simular: 'sim' }, 'simular'],
      [{ desde: '2026-01-01', cursor: 'x' }, 'cursor'],
      [{ desde: '2026-01-01', limite: 3 }, 'limite'],
    ];
    for (const [body, campo] of bad) {
      const answer = await resendMany(body);
      expect([answer.status, answer.body.detalhes?.map((detail) => detail.campo)]).toEqual([400, [campo]]);
    }
  });
});
