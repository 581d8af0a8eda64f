import { text } from 'node:stream/consumers';
import { spawnSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AuditedAttemptResource, auditedAttempt } from '../../src/contract/resources/audit-lists.ts';
import type { ExportManifest } from '../../src/contract/resources/audit-resource.ts';
import { exportRows } from '../../src/audit/export/export.ts';
import { KINDS } from '../../src/audit/lists/kinds.ts';
import { openNote } from '../../src/audit/checkpoint/note.ts';
import { csv } from '../../src/audit/export/formats.ts';
import { sealAndSign, SIGNER } from '../support/checkpoint.ts';
import { startApi } from '../support/api.ts';
import { EVERYTHING } from '../support/searches.ts';
import { commitEvents, insertPartner, insertWebhook } from '../support/outbox.ts';
import { itemsOf, type Page as PageOf } from '../support/pages.ts';
import { untilSettled } from '../support/settled.ts';

type Page = PageOf<AuditedAttemptResource>;

const PATH = '/v1/auditoria/tentativas';
const FORMULA = '=HYPERLINK("http://evil.example")';

/** One attempt of each delivery, and a failed one of every tenth; recorded a millisecond apart, three at a time. */
async function recordAttempts(): Promise<void> {
  await api.database.sql`
    insert into attempts (delivery_id, number, event_id, webhook_id, partner_id, outcome, status_code, started_at, duration_ms, url,
                          claim, answer, recorded_at)
    select id, 1, event_id, webhook_id, partner_id,
           case when n % 10 = 0 then 'resposta_nao_2xx' else 'entregue' end, case when n % 10 = 0 then 500 else 200 end,
           timestamptz '2026-03-01T12:00:00Z', 5, 'https://partner.example/', 'test',
           case when n % 10 = 0 then E'server: 529.982.247-25\n\n' || ${FORMULA} || ' 529.982.247-25' else E'\nok' end,
           timestamptz '2026-03-01T12:00:00Z' + (n / 3) * interval '1 millisecond'
    from (select *, row_number() over (order by id) as n from deliveries) d`;
}

const api = await startApi();
const token = await api.token(undefined, ['auditoria:read']);
const { sql } = api.database;
const partners: string[] = [await insertPartner(sql), await insertPartner(sql)];
const webhooks: string[] = [];
for (const partner of partners) {
  for (let count = 0; count < 2; count += 1) {
    webhooks.push((await insertWebhook(sql, partner, 'https://partner.example/')).id);
  }
  await commitEvents(sql, partner, 50);
}
await recordAttempts();
await untilSettled(sql);
await sealAndSign(api.database.pool);

const get = (query = '') => api.send<Page>('GET', `${PATH}${query}`, { token });

/** Every page of a search, one after the other. */
const readAll = (query: Record<string, string>) => itemsOf(get, `?${new URLSearchParams(query).toString()}`);

const keyOf = (item: AuditedAttemptResource) => `${item.entrega_id}/${item.numero}/${item.atrasada}`;

describe('what only the grant for CPFs shows', () => {
  const SECRET = {
    url: 'https://partner.example/hook/529‑982‑247‑25?token=abc',
    error: 'cpf 529,982,247-25',
    answer: '５２９９８２２４７２５',
  };
  beforeAll(async () => {
    await api.database.sql`
      insert into attempts (delivery_id, number, webhook_id, partner_id, outcome, status_code, started_at, duration_ms, url, claim, error, answer, recorded_at)
      select id, 8, webhook_id, partner_id, 'entregue', 200, now(), 1, ${SECRET.url}, 'secret', ${SECRET.error}, ${`server: ${SECRET.answer}\n\n${SECRET.answer}`}, '2020-01-01Z'
      from deliveries limit 1`;
    await untilSettled(api.database.sql);
  });
  afterAll(() => api.database.sql`delete from attempts where poller = 'secret'`);
  const query = '?ate=2020-01-02';

  test('is the URL’s query and every CPF, in the list and in the exports', async () => {
    const hidden = {
      url: 'https://partner.example/hook/***********?***********',
      erro: 'cpf ***********',
      resposta_cabecalhos: 'server: ***********\n',
      resposta: '***********',
    };
    expect((await get(query)).body.itens).toMatchObject([hidden]);
    for (const formato of ['csv', 'ndjson']) {
      const text = (await exported(`${query}&formato=${formato}`)).bytes.toString();
      expect(text).toContain(hidden.url);
      expect(text).not.toMatch(/529.{0,3}982|５２９|token=/);
    }
  });

  test('is shown under auditoria:cpf, which is no grant without auditoria:read, nor for a partner', async () => {
    const granted = await api.token(undefined, ['auditoria:read', 'auditoria:cpf']);
    const { body } = await api.send<Page>('GET', PATH + query, { token: granted });
    expect(body.itens).toMatchObject([{ url: SECRET.url, erro: SECRET.error, resposta: SECRET.answer }]);
    const alone = await api.token(undefined, ['auditoria:cpf']);
    expect((await api.send('GET', PATH + query, { token: alone })).status).toBe(401);
    const partner = await api.token(partners[0], ['auditoria:read', 'auditoria:cpf']);
    expect((await api.send('GET', PATH + query, { token: partner })).status).toBe(403);
  });
});

describe('the list', () => {
  test('walks all attempts of all partners once, newest first, through pages that cut equal times', async () => {
    const items = await readAll({ limite: '7' });
    expect(items).toHaveLength(200);
    expect(new Set(items.map(keyOf)).size).toBe(200);
    const order = items.map((item) => `${item.registrada_em} ${item.entrega_id}`);
    expect(order).toEqual(order.toSorted().toReversed());
    expect(items.at(-1)).toMatchObject({ evento: 'desembolso.falhou', resultado: 'entregue', status_http: 200 });
  });

  test('each filter brings what it names and nothing else, alone and together', async () => {
    const all = await readAll({});
    const some = all[17] as AuditedAttemptResource;
    const loan = some.emprestimo_id ?? '';
    const cases: [Record<string, string>, (item: AuditedAttemptResource) => boolean][] = [
      [{ parceiro_id: some.parceiro_id }, (item) => item.parceiro_id === some.parceiro_id],
      [{ webhook_id: some.webhook_id }, (item) => item.webhook_id === some.webhook_id],
      [{ entrega_id: some.entrega_id.toUpperCase() }, (item) => item.entrega_id === some.entrega_id],
      [{ emprestimo_id: loan }, (item) => item.emprestimo_id === loan],
      [{ emprestimo_id: loan, webhook_id: some.webhook_id }, (item) => keyOf(item) === keyOf(some)],
      [{ resultado: 'resposta_nao_2xx' }, (item) => item.resultado === 'resposta_nao_2xx'],
      [
        { resultado: 'entregue', parceiro_id: some.parceiro_id },
        (item) => item.resultado === 'entregue' && item.parceiro_id === some.parceiro_id,
      ],
      [{ evento: 'desembolso.falhou' }, () => true],
      [{ evento: 'averbacao.concluida' }, () => false],
      [{ parceiro_id: partners[0] ?? '', webhook_id: webhooks[3] ?? '' }, () => false],
      [{ emprestimo_id: randomUUID() }, () => false],
      [{ desde: some.registrada_em, ate: some.registrada_em }, (item) => item.registrada_em === some.registrada_em],
      [{ desde: '2026-03-02' }, () => false],
    ];
    for (const [query, fits] of cases) {
      const found = await readAll({ ...query, limite: '11' });
      expect([query, found.map(keyOf)]).toEqual([query, all.filter(fits).map(keyOf)]);
    }
  });
});

const CSV_READER = `
import csv, io, sys
rows = list(csv.DictReader(io.TextIOWrapper(sys.stdin.buffer, 'utf-8', newline='')))
print(len(rows), all(None not in row and None not in row.values() and int(row['duracao_ms']) == 5 for row in rows))`;

const PANDAS_READER = `
import pandas, sys
table = pandas.read_csv(sys.stdin.buffer)
print(len(table), str(table['duracao_ms'].dtype) == 'int64' and str(table['atrasada'].dtype) == 'bool')`;

async function exported(query: string, headers: Record<string, string> = {}) {
  const answer = await api.app.request(`${PATH}${query}`, {
    headers: { Authorization: `Bearer ${token}`, ...headers },
  });
  expect(answer.status).toBe(200);
  const manifest = answer.headers.get('X-Carteiro-Manifesto') ?? '';
  return { type: answer.headers.get('Content-Type'), manifest, bytes: Buffer.from(await answer.arrayBuffer()) };
}

describe('the export', () => {
  test('CSV is asked for by Accept, holds rows alone, starts no formula and shows no CPF', async () => {
    const { type, bytes } = await exported('?resultado=resposta_nao_2xx', { Accept: 'text/csv' });
    expect(type).toContain('text/csv');
    const text = bytes.toString();
    const lines = text.trimEnd().split('\r\n');
    expect(lines).toHaveLength(1 + 20);
    expect(lines[1]).toContain(`"'=HYPERLINK(""http://evil.example"")`);
    expect(text).not.toContain('247-25');
    expect(text).not.toContain('manifesto');
  });

  test.each(['csv', 'ndjson'])(
    'of %s names the path of its manifest, which tells its rows and bytes, also later',
    async (formato) => {
      const { manifest, bytes } = await exported(`?formato=${formato}&resultado=resposta_nao_2xx`);
      await api.database.sql`
      insert into attempts (delivery_id, number, webhook_id, partner_id, outcome, status_code, started_at, duration_ms, url, claim)
      select id, 7, webhook_id, partner_id, 'resposta_nao_2xx', 500, now(), 1, 'https://partner.example/', 'later' from deliveries limit 1`;
      const { status, body } = await api.send<ExportManifest>('GET', manifest, { token });
      await api.database.sql`delete from attempts where poller = 'later'`;
      const rows = formato === 'csv' ? bytes : bytes.subarray(0, bytes.lastIndexOf('\n', bytes.length - 2) + 1);
      expect([status, body]).toMatchObject([
        200,
        {
          linhas: 20,
          sha256: createHash('sha256').update(rows).digest('hex'),
          filtros: { formato, resultado: 'resposta_nao_2xx' },
        },
      ]);
      const later = manifest.replace(/corte=(\d+)-\d+/, 'corte=$1-9999999999999999999');
      expect((await api.send('GET', later, { token })).body.detalhes?.[0]?.campo).toBe('corte');
    },
  );

  test('a CSV that was cut goes on behind its last whole row, and the whole has the signed manifest’s digest', async () => {
    const { manifest, bytes } = await exported('?formato=csv&bom=true');
    expect(bytes.subarray(0, 3)).toEqual(Buffer.from([0xef, 0xbb, 0xbf]));
    const lines = bytes.toString().split('\r\n');
    const cut = Buffer.from(`${lines.slice(0, 120).join('\r\n')}\r\n`);
    const head = (lines[0] ?? '').replace('\u{FEFF}', '').split(',');
    const cells = (lines[119] ?? '').split(',');
    const cell = (name: string) => cells[head.indexOf(name)] ?? '';
    const corte = new URL(manifest, 'http://x').searchParams.get('corte') ?? '';
    const row = ['registrada_em', 'entrega_id', 'numero', 'atrasada'].map(cell).join(',');
    const rest = await exported(`?formato=csv&bom=true&corte=${corte}&depois=${row}`);
    expect(Buffer.concat([cut, rest.bytes]).equals(bytes)).toBe(true);
    expect(rest.manifest).toBe(manifest);
    const { body } = await api.send<ExportManifest>('GET', manifest, { token });
    expect(body.sha256).toBe(createHash('sha256').update(bytes).digest('hex'));
    const opened = openNote(body.assinatura ?? '', [SIGNER]);
    expect(opened?.signedBy).toHaveLength(1);
    expect(opened?.text.split('\n').slice(0, 3)).toEqual(['carteiro/manifesto/1', '200', body.sha256]);
    const wrong = async (query: string) =>
      (await api.send('GET', `${PATH}?formato=csv&${query}`, { token })).body.detalhes?.[0]?.campo;
    expect(await wrong(`depois=${row}`)).toBe('corte');
    expect(await wrong(`corte=${corte}&depois=x`)).toBe('depois');
    expect(await wrong(`corte=1-9999999999999999999&depois=${row}`)).toBe('corte');
  });

  test('a cell of a CSV divides no columns and starts no formula, whatever stands in front of it', () => {
    const line = (erro: string) => csv.line({ erro }, Object.keys(auditedAttempt.shape));
    expect(line('a;b')).toContain(',"a;b",');
    for (const start of ['=', '+', '-', '@', '\u0000=', '\u001B-1', '\u200B=1', ' \t=1', '\u0007']) {
      expect(line(`${start}cmd`)).toContain(`"'${start}cmd"`);
    }
    expect(line('não é fórmula: 1-1')).toContain(',não é fórmula: 1-1,');
  });

  test.each([
    ['csv', CSV_READER],
    ['pandas', PANDAS_READER],
  ])('CSV reads as a table of 200 rows in Python’s %s', async (module, program) => {
    const python = process.env['PYTHON'] ?? 'python3';
    if (spawnSync(python, ['-c', `import ${module}`]).status !== 0) {
      console.log(`Python's ${module} is not installed here: not tried`);
      return;
    }
    const { bytes } = await exported('?formato=csv');
    const { stdout, stderr } = spawnSync(python, ['-c', program], { input: bytes, encoding: 'utf8' });
    expect([stderr, stdout.trim()]).toEqual(['', '200 True']);
  });

  test('leaves out what was not settled when it began, and reads page by page', async () => {
    const late = await api.database.sql.reserve();
    await late`begin`;
    await late`update partners set name = 'x' where false`;
    await late`select pg_current_xact_id()`;
    await api.database.sql`
      insert into attempts (delivery_id, number, webhook_id, partner_id, outcome, started_at, url, claim)
      values (uuidv7(), 1, uuidv7(), ${partners[0] ?? ''}, 'desconhecido', now(), 'https://late.example/', 'late')`;
    const begun = await exportRows(
      api.database.pool,
      {
        format: 'ndjson',
        ...EVERYTHING,
        kind: KINDS.tentativas,
        name: 'tentativas',
        seesCpf: false,
        asked: {},
        pageSize: 9,
      },
      '/manifesto',
    );
    if ('refused' in begun) throw new Error('refused');
    const { chunks } = begun.ok;
    const lines = (await text(chunks)).trimEnd().split('\n');
    await late`commit`;
    late.release();
    expect(lines).toHaveLength(201);
  });
});
