/** Alerts to people of a partner, taken by a real SMTP server and by a real receiver. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { SMTPServer } from 'smtp-server';
import { beforeEach, describe, expect, test } from 'vitest';
import { type Config, readConfig } from '../../src/config.ts';
import type { ErrorBody } from '../../src/contract/errors.ts';
import type { AlertSettings } from '../../src/contract/resources/alerts.ts';
import { openAlerts } from '../../src/main/maintenance/alerts.ts';
import { useSubscriber } from '../support/delivery-world.ts';
import { endOf } from '../support/ends.ts';
import { listening } from '../support/listening.ts';
import { startPainelWorld } from '../support/painel.ts';
import { status } from '../support/receiver.ts';
import { silentLog } from '../support/silent-log.ts';
import { makeTestFolder } from '../support/test-folder.ts';

const EMAIL = 'plantao@parceiro.example.com';
const authFile = path.join((await makeTestFolder()).path, 'smtp');
writeFileSync(authFile, 'carteiro:s3nha\n');
const mails: string[] = [];
let refusal: Error | null = null;
let alerts: Awaited<ReturnType<typeof openAlerts>>;

async function open(more: Partial<Config> = {}) {
  const url = new URL(`smtp://127.0.0.1:${smtpPort}`);
  const mail = { smtpUrl: url, smtpAuthFile: authFile, smtpFrom: 'carteiro@financiador.example.com' };
  const publicUrl = new URL('https://carteiro.example.com');
  return openAlerts({ ...readConfig({}), ...mail, publicUrl, ...more }, silentLog);
}

const world = await startPainelWorld();
const smtp = new SMTPServer({
  disabledCommands: ['STARTTLS'],
  allowInsecureAuth: true,
  onAuth: ({ username, password }, _session, answer) =>
    username === 'carteiro' && password === 's3nha' ? answer(null, { user: username }) : answer(new Error('no')),
  onData(stream, _session, answer) {
    let text = '';
    stream.setEncoding('utf8').on('data', (part: string) => (text += part));
    stream.on('end', () => {
      if (refusal === null) mails.push(text);
      answer(refusal);
    });
  },
});
const smtpPort = await listening(smtp.server);
const { partner, webhook } = useSubscriber(world);
beforeEach(async () => {
  alerts = await open();
  endOf(() => alerts.close());
  mails.length = 0;
  refusal = null;
});

const chat = () => `${world.receiver.url}/chat/${partner.id}/T0K3N`;
const put = (body: object) => partner.send<AlertSettings & ErrorBody>('PUT', '/v1/alertas', body);
const confirm = (codigo: string) =>
  partner.send<AlertSettings & ErrorBody>('POST', '/v1/alertas/confirmacao', { codigo });
/** Chooses addresses, and confirms each by the code that came there. */
async function choose(body: object) {
  await put(body);
  await poll();
  const texts = [...mails.splice(0), ...chats().map((post) => post.body.toString())];
  world.receiver.posts.length = 0;
  let settled: Awaited<ReturnType<typeof confirm>> | undefined;
  for (const text of texts) settled = await confirm(codeIn(text));
  return settled;
}
const codeIn = (text: string) => /digo (?:=C3=A9|é) (\d{8})/.exec(text.replaceAll('=\r\n', ''))?.[1] ?? '';
const reported = async () => (await partner.send<AlertSettings>('GET', '/v1/alertas')).body.avisos;
const failing = async () => (await reported()).filter(({ tipo }) => tipo === 'falhando');
const chats = () => world.postsTo(new URL(chat()).pathname);

/** A line of history as the policy for failing endpoints writes it. */
async function change(what: string) {
  await world.api.database.sql`
    insert into webhook_history (webhook_id, partner_id, url, events, active, change, actor, changed_at)
    select id, partner_id, url, events, active, ${what}, 'servico', clock_timestamp() from webhooks where id = ${webhook.id}`;
}
const poll = () => alerts.poll(world.api.database.pool);
const untilDue = () =>
  world.api.database.sql`update alerts set due_at = now() where partner_id = ${partner.id} and due_at is not null`;

describe('an address', () => {
  test('gets one code and nothing else until the code comes back; a wrong one confirms nothing', async () => {
    await put({ email: EMAIL, slack_url: chat() });
    await put({ email: EMAIL, slack_url: chat() });
    await change('falhando');
    await partner.send('POST', '/v1/alertas/teste');
    await poll();
    expect([mails.length, chats().length]).toEqual([1, 1]);
    const code = codeIn(mails[0] ?? '');
    const wrong = await confirm(code === '00000000' ? '00000001' : '00000000');
    expect([wrong.status, wrong.body.detalhes?.[0]?.campo]).toEqual([400, 'codigo']);
    const stranger = await world.subscriber();
    expect((await stranger.send('POST', '/v1/alertas/confirmacao', { codigo: code })).status).toBe(400);
    expect((await confirm(code)).body).toMatchObject({ email_confirmado: true, slack_confirmado: false });
    await partner.send('POST', '/v1/alertas/teste');
    await poll();
    expect([mails.length, chats().length]).toEqual([2, 1]);
    expect(mails[1]).toMatch(/^Subject: Carteiro: aviso de teste/m);
  });

  test('is guessed ten times at most, and a partner asks for ten codes a day at most', async () => {
    await put({ email: EMAIL });
    await poll();
    const code = codeIn(mails[0] ?? '');
    for (let guess = 0; guess < 10; guess += 1) await confirm(code === '00000000' ? '00000001' : '00000000');
    expect((await confirm(code)).status).toBe(400);
    for (let asked = 1; asked < 10; asked += 1) expect((await put({ email: `a${asked}@b.example` })).status).toBe(200);
    const refused = await put({ email: 'a10@b.example' });
    expect([refused.status, refused.body.codigo]).toEqual([429, 'LIMITE_DE_REQUISICOES']);
    expect((await partner.send<AlertSettings>('GET', '/v1/alertas')).body.email).toBe('a9@b.example');
  });

  test('that is replaced is told so, with what was not told yet; the history says who did it', async () => {
    await choose({ email: EMAIL, slack_url: chat() });
    await partner.send('PATCH', `/v1/webhooks/${webhook.id}`, { url: `${webhook.url}/outra` });
    await partner.send('PATCH', `/v1/webhooks/${webhook.id}`, { eventos: ['repasse.processado'] });
    await put({ email: 'ladrao@mal.example', slack_url: null });
    await poll();
    const to = (address: string) =>
      mails.filter((mail) => mail.includes(`To: ${address}`)).map((mail) => /^Subject: (.+)/m.exec(mail)?.[1] ?? '');
    expect(to(EMAIL).toSorted()).toEqual([
      'Carteiro: os avisos mudaram',
      expect.stringMatching(/webhook em .+ mudado/),
    ]);
    expect(to('ladrao@mal.example')).toEqual([expect.stringMatching(/confirmar/)]);
    expect(chats()).toHaveLength(2);
    const { mudancas } = (await partner.send<AlertSettings>('GET', '/v1/alertas')).body;
    expect(mudancas.length).toBeGreaterThan(3);
    const lines = await world.api.database.sql`
      select distinct actor from partner_history where partner_id = ${partner.id} and change = 'avisos'`;
    expect(mudancas.map(({ autor }) => autor)).toContain(lines[0]?.actor);
  });
});

describe('an alert', () => {
  test('is told once on each channel, however many look, with the host and the page, and nothing that is secret', async () => {
    await change('falhando');
    const set = await choose({ email: EMAIL, slack_url: chat() });
    expect(set?.body).toMatchObject({
      email: EMAIL,
      email_confirmado: true,
      slack: world.receiver.url,
      slack_confirmado: true,
    });
    expect(set?.text).not.toContain('T0K3N');
    await poll();
    expect([mails, chats()]).toEqual([[], []]);
    await change('suspensao');
    await Promise.all([poll(), poll(), poll()]);
    await untilDue();
    await poll();
    expect([mails.length, chats().length]).toEqual([1, 1]);
    const [mail = ''] = mails;
    expect(mail).toContain(`To: ${EMAIL}`);
    expect(mail).toMatch(/^Subject: Carteiro: webhook em 127\.0\.0\.1:\d+ suspenso/m);
    const { text } = JSON.parse(chats()[0]?.body.toString() ?? '') as { text: string };
    expect(text).toContain(`https://carteiro.example.com/painel/webhooks/${webhook.id}`);
    expect(mail + text).not.toContain(webhook.path);
    expect((await reported()).map(({ tipo, canal, erro }) => `${tipo} ${canal} ${erro}`).toSorted()).toEqual([
      'confirmacao email null',
      'confirmacao slack null',
      'suspensao email null',
      'suspensao slack null',
    ]);
  });

  test('that is not taken is tried again, says why, and is given up in the end', async () => {
    await choose({ email: EMAIL, slack_url: chat() });
    refusal = Object.assign(new Error('not now'), { responseCode: 451 });
    world.receiver.answerWith(status(500), new URL(chat()).pathname);
    await change('falhando');
    await poll();
    const errors = Object.fromEntries((await failing()).map((one) => [one.canal, [one.erro, one.enviado_em]]));
    expect(errors).toEqual({
      email: [expect.stringContaining('451'), null],
      slack: [expect.stringContaining('500'), null],
    });
    refusal = null;
    for (let tries = 0; tries < 10; tries += 1) {
      await untilDue();
      await poll();
    }
    expect(mails).toHaveLength(1);
    expect(chats()).toHaveLength(8);
    const ends = Object.fromEntries(
      (await failing()).map((one) => [one.canal, [one.tentativas, one.enviado_em !== null]]),
    );
    expect(ends).toEqual({ email: [2, true], slack: [8, false] });
  });

  test('tells of a secret that ends within three hours, and of a test that was asked for', async () => {
    await choose({ slack_url: chat() });
    await world.api.database.sql`
      update webhooks set previous_encrypted_secret = encrypted_secret, previous_until = now() + interval '2 hours'
      where id = ${webhook.id}`;
    await partner.send('POST', '/v1/alertas/teste');
    await partner.send('POST', '/v1/alertas/teste');
    await poll();
    await poll();
    expect((await reported()).map(({ tipo }) => tipo).toSorted()).toContain('fim_do_segredo');
    expect(chats().filter(({ body }) => body.includes('deixa de assinar'))).toHaveLength(1);
    expect(chats().filter(({ body }) => body.includes('aviso de teste')).length).toBeGreaterThan(0);
  });

  test('never goes to a private address, nor to one that was taken away', async () => {
    await choose({ slack_url: chat() });
    await change('falhando');
    const strict = await open({ allowInsecureTargets: false });
    await strict.poll(world.api.database.pool);
    await strict.close();
    expect([chats(), (await failing())[0]?.erro]).toEqual([[], expect.stringContaining('DESTINO_RECUSADO')]);
    // Left out it stays, because nobody can read it back to send it again.
    expect((await put({ email: EMAIL })).body).toMatchObject({ slack: world.receiver.url, slack_confirmado: true });
    expect((await put({ slack_url: null })).body).toMatchObject({ email: null, slack: null });
    await untilDue();
    await poll();
    expect(chats().map(({ body }) => /os avisos mudaram/.test(String(body)))).toEqual([true, true]);
  });

  test('tells of a URL that was changed together with a deactivation or a reactivation, and of neither alone', async () => {
    await choose({ slack_url: chat() });
    const patch = (body: object) => partner.send('PATCH', `/v1/webhooks/${webhook.id}`, body);
    await patch({ ativo: false });
    await patch({ ativo: true });
    await poll();
    expect(chats()).toEqual([]);
    await patch({ ativo: false, url: `${webhook.url}/outra` });
    await poll();
    await patch({ ativo: true, url: `${webhook.url}/terceira` });
    await poll();
    expect(chats().map(({ body }) => String(body))).toEqual(Array(2).fill(expect.stringMatching(/mudado/)));
  });

  test('whose address is gone keeps nobody else waiting, however many there are of it', async () => {
    const { sql } = world.api.database;
    await choose({ slack_url: chat() });
    await change('falhando');
    // As they are left by a look that began before the partner took its address away, and ended after that.
    const { id: gone } = await world.subscriber();
    await sql`
      insert into alerts (subject, kind, happened_at, channel, partner_id, due_at)
      select ${gone}, 'teste', now() - n * interval '1 minute', 'slack', ${gone}, now() - interval '1 hour'
      from generate_series(1, 100) n`;
    await poll();
    expect(chats()).toHaveLength(1);
  });
});

test('an address that is none is refused with its field, on the page too, and a stranger sees nothing', async () => {
  for (const email of ['nada', `a@b.example\r\nBcc: ${EMAIL}`, `x${'y'.repeat(260)}@b.example`]) {
    const { status: code, body } = await put({ email });
    expect([code, body.detalhes?.[0]?.campo]).toEqual([400, 'email']);
  }
  expect((await put({ slack_url: 'ftp://x.example' })).body.detalhes?.[0]?.campo).toBe('slack_url');
  const visitor = await world.signedIn(partner.id);
  const wrong = await visitor.submit('/painel/avisos', '/painel/avisos', { email: 'nada' });
  expect([wrong.status, wrong.text.match(/aria-invalid="true"/g)?.length]).toEqual([400, 1]);
  const saved = await visitor.submit('/painel/avisos', '/painel/avisos', { email: EMAIL, slack_url: chat() });
  expect(saved.headers.get('location')).toBe('/painel/avisos?feito=salvo');
  expect((await visitor.get('/painel/avisos?feito=salvo')).text).toContain(EMAIL);
  await visitor.submit('/painel/avisos', '/painel/avisos', { email: '', slack_url: '' });
  expect((await visitor.get('/painel/avisos')).text).toContain(`${world.receiver.url}/…`);
  await visitor.submit('/painel/avisos', '/painel/avisos', { email: '', slack_url: '', sem_chat: 'on' });
  expect((await visitor.get('/painel/avisos')).text).not.toContain(`${world.receiver.url}/…`);
  const stranger = await (await world.subscriber()).send<AlertSettings>('GET', '/v1/alertas');
  expect(stranger.body).toMatchObject({ email: null, slack: null, avisos: [] });
  const mute = await startPainelWorld({ sendsMail: false });
  const other = await mute.subscriber();
  const refused = await other.send('PUT', '/v1/alertas', { email: EMAIL });
  expect([refused.status, refused.body.detalhes?.[0]?.campo]).toEqual([400, 'email']);
});
