/** The supervisor's questions: the page has each, each is answered about the CPF and the day that are asked for, and its calls work. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { QUESTIONS } from '../../src/audit/report.ts';
import { MASK } from '../../src/contract/masking/masking.ts';
import { dayOf } from '../../src/contract/calendar.ts';
import { startApi } from '../support/api.ts';
import { callCommand, sandboxOn } from '../support/command.ts';
import { live } from '../support/lived-database.ts';
import { sealAndSign } from '../support/checkpoint.ts';
import { startReceiver, status } from '../support/receiver.ts';
import { untilSettled } from '../support/settled.ts';
import { run } from '../support/snippets.ts';

const CPF = '52998224725';

const api = await startApi();
const { sql, pool, url } = api.database;
const receiver = await startReceiver();
receiver.answerWith(status(200));
const { partnerId, webhookId } = await live(pool, sql, receiver);
await receiver.close();
await untilSettled(sql);
await sealAndSign(pool);

const secret = randomBytes(32);
const keyFile = path.join(await mkdtemp(path.join(tmpdir(), 'carteiro-report-')), 'worker.key');
await writeFile(keyFile, secret.toString('base64'));

interface Reported {
  readonly numero: number;
  readonly pergunta: string;
  readonly respostas: readonly { readonly em: string | null; readonly texto: string }[];
  readonly mais: boolean;
}

const env = { ...sandboxOn(url), LOG_LEVEL: 'error', WORKER_KEY_FILE: keyFile };

async function report(...options: string[]) {
  const { code, stdout, stderr } = await callCommand(['audit', 'report', ...options], env);
  expect([code, stderr]).toEqual([0, '']);
  return stdout;
}

async function answers(...options: string[]) {
  const reported = JSON.parse(await report('--json', ...options)) as Reported[];
  expect(reported.map(({ numero, pergunta }) => [numero, pergunta])).toEqual(
    QUESTIONS.map(({ question }, index) => [index + 1, question]),
  );
  return (question: number) => reported[question - 1]?.respostas.map(({ texto }) => texto) ?? [];
}

const today = dayOf(new Date((await sql<[{ now: Date }]>`select now()`)[0].now));

test('the page has each question, in order, with where to look', async () => {
  const page = await readFile(path.resolve(import.meta.dirname, '../../src/audit/SUPERVISION.md'), 'utf8');
  const rows = QUESTIONS.map(
    ({ question, where }, index) =>
      `| ${index + 1} | ${question} | ${where.map((one) => one.replace(/^([^(]+?)( \(.*\))?$/, '`$1`$2')).join('<br>')} |`,
  );
  expect(rows).toHaveLength(20);
  expect(page).toContain(rows.join('\n'));
});

test('each call of the auditors that the page names is answered to an auditor', async () => {
  const token = await api.token(undefined, ['auditoria:read']);
  const resumo = randomBytes(32).toString('hex');
  const calls = QUESTIONS.flatMap(({ where }) =>
    where.flatMap((one) => one.match(/GET \/v1\/(auditoria|evidencia)\/\S+/g) ?? []),
  );
  expect(calls.length).toBeGreaterThan(10);
  for (const call of calls) {
    const asked = call.slice('GET '.length).replaceAll('DAY', today).replace('RESUMO', resumo);
    expect([call, (await api.send('GET', asked, { token })).status]).toEqual([call, 200]);
  }
});

test('each command that the page names is there, with these options', async () => {
  const commands = QUESTIONS.flatMap(({ where }) => where).filter((one) => !/^(GET|POST|select|drizzle)/.test(one));
  for (const command of new Set(commands)) {
    const words = command.replace(/ \(.*/, '').split(' ');
    const { code, stdout } = await callCommand([...words.filter((word) => /^[a-z]/.test(word)), '--help']);
    expect([command, code]).toEqual([command, 0]);
    for (const option of words.filter((word) => word.startsWith('--'))) expect(stdout).toContain(option);
  }
});

test('what never happened is said so, and what did is told with its author and time', async () => {
  const before = await answers();
  const idle = [1, 3, 5, 6, 7, 9, 10, 11, 15, 16, 17, 20];
  expect(idle.map(before)).toEqual(idle.map((question) => [`none: ${QUESTIONS[question - 1]?.none}`]));
  await sql`
    insert into verify_verdicts (since, seals, rows, size, root, findings, found, finished) values (0, 1, 7, 1, sha256('x'), 0, '[]', true)`;
  await sql`
    insert into scheduled_jobs (name, started_at, ended_at, succeeded_at, exit_code, result)
    values ('drill', now(), now(), now(), 0, '{"mes": "2026-01", "restaurado": {"linhas": 8, "segundos": 0.1}, "confere": true}')
    on conflict (name) do update set succeeded_at = now(), exit_code = 0, result = excluded.result`;
  await sql`
    insert into webhook_history (webhook_id, partner_id, url, events, active, change, actor, reason)
    select id, partner_id, url, events, active, 'silenciamento', 'operador:ana', ${`a pedido de ${CPF}`} from webhooks`;
  await sql`insert into receiver_certificates values ('https://partner.example', '2030-01-02T03:04:05Z', now())`;
  await sql`update webhooks set previous_encrypted_secret = encrypted_secret, previous_until = now() + interval '1 hour'`;
  await sql`
    insert into system_history (about, name, value, actor) values ('configuracao', 'api', '{"keepMonths": 14, "eraseAfterYears": 5}', 'carteiro')`;
  await sql`
    insert into send_orders (kind, webhook_id, partner_id, delivery_ids, actor, reason)
    select 'cancelamento', webhook_id, partner_id, array[id], 'operador:ana', 'ordem' from deliveries order by id limit 1`;
  await sql`
    insert into archive_acts (act, month, first_seal, last_seal, place, manifest, deliveries, rows, actor, reason)
    values ('remocao_concluida', '2025-01', 1, 2, '/a', sha256('m'), sha256('d'), 9, 'carteiro', 'prazo')`;
  await sql`
    insert into erasure_orders (court_order, actor, reason, events, pages) values ('8812', 'operador:ana', 'pedido do titular', 3, 1)`;
  await sql`
    insert into anchors (kind, place, active, size, anchored_at) values ('arquivo', '/outside', true, 5, now())`;
  await sql`insert into system_history (about, name, value, actor) values ('catalogo', 'margem.falhou', '{"versao": 2}', 'carteiro')`;
  const after = await answers();
  expect(after(3)).toEqual([`silenciamento of webhook ${webhookId} by operador:ana: a pedido de ${MASK}`]);
  expect(after(5)).toEqual([expect.stringMatching(/^cancelamento of delivery \S+ by operador:ana: ordem$/)]);
  expect(after(9)).toEqual(['remocao_concluida of 2025-01: 9 rows by carteiro: prazo']);
  expect(after(10)).toEqual([
    expect.stringMatching(/^order \S+: 3 events by operador:ana: pedido do titular, court order 8812$/),
  ]);
  expect(after(17)).toEqual(['arquivo /outside has 5 seals']);
  expect(after(20)).toEqual(['margem.falhou is of version 2, by carteiro']);
  expect(after(6)).toEqual(['https://partner.example shows one until 2030-01-02T03:04:05Z']);
  expect(after(7)).toEqual([
    expect.stringMatching(new RegExp(`^webhook ${webhookId}: the secret before signs until \\S+Z`)),
  ]);
  expect(after(8)[0]).toContain('months leave for the archive after 14; a worker may be forgotten 5 years');
  expect(after(11)).toEqual(['2026-01: 8 rows were made again by the drill in 0.1 s']);
  expect(after(15)).toEqual(['0 findings over 7 rows']);
  expect(after(19)).toContainEqual(expect.stringMatching(/_auditor reads the views of auditors; its logins: /));
});

test('question 1 is about the CPF, and no CPF is in the answer', async () => {
  const [about, other] = await sql<{ id: string }[]>`select id from events order by id limit 2`;
  await sql`update events set data = jsonb_set(data::jsonb, '{nota}', ${`"${CPF}"`})::json where id = ${about?.id ?? ''}`;
  for (const [actor, id, at] of [
    ['ana', about?.id, '2026-03-01T00:00:00.001Z'],
    ['rui', other?.id, '2026-03-01T00:00:00.002Z'],
    ['leo', other?.id, '2026-03-01T00:00:00.002Z'],
  ])
    await sql`
      insert into cpf_reads (actor, operation, asked, events, read_at)
      values (${actor ?? ''}, 'GET /v1/auditoria/eventos', ${`/of ${actor}`}, array[${id ?? ''}::uuid], ${at ?? ''})`;
  await untilSettled(sql);
  expect((await answers())(1)).toEqual(['leo: /of leo', 'rui: /of rui', 'ana: /of ana']);
  expect((await answers('--cpf', CPF))(1)).toEqual(['ana: /of ana']);
  expect(await report('--cpf', CPF)).not.toContain(CPF);
  const main = path.resolve(import.meta.dirname, '../../src/main.ts');
  const piped = ['audit', 'report', '--json', '--cpf', '-'];
  const [first] = JSON.parse(await run([process.execPath, main, ...piped], tmpdir(), `${CPF}\n`, env)) as Reported[];
  expect(first?.respostas.map(({ texto }) => texto)).toEqual(['ana: /of ana']);
});

test('questions 2, 12 and 13 are about the day', async () => {
  const [{ id }] = await sql<[{ id: string }]>`
    update deliveries set status = 'erro', finished_at = now() where id = (select id from deliveries order by id limit 1) returning id`;
  await sql`
    insert into alerts (subject, kind, happened_at, channel, partner_id, sent_at)
    values (${webhookId}, 'erro', now(), 'slack', ${partnerId}, now())`;
  const [on, off] = [await answers('--day', today), await answers('--day', '2020-01-31')];
  expect(on(2)).toContainEqual(expect.stringMatching(/^POSTs: by secrets under key \S+, \d+ attempts$/));
  expect(on(2)).toContainEqual(expect.stringMatching(/^checkpoints: by \S+\+[0-9a-f]{8}, 1 of them$/));
  expect(on(12)).toContainEqual(
    expect.stringMatching(new RegExp(`^erro after \\d+ attempts: delivery ${id} to webhook ${webhookId}$`)),
  );
  expect(on(13)).toEqual([`erro of webhook ${webhookId} to partner ${partnerId} by slack`]);
  for (const question of [2, 12, 13]) expect(off(question)).toEqual([`none: ${QUESTIONS[question - 1]?.none}`]);
});

test('of more than twenty answers the newest are told, and that there are older ones', async () => {
  await sql`
    insert into verify_verdicts (since, seals, rows, size, root, findings, found, finished, checked_at)
    select 0, 1, n, 1, sha256('x'), 0, '[]', true, now() + n * interval '1 second' from generate_series(1, 21) n`;
  const text = await report();
  expect(text).toContain('0 findings over 21 rows');
  expect(text).not.toContain('0 findings over 1 rows');
  expect(text).toContain('and older ones');
});
