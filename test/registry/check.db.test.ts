/** `registry check` as a real process: against the simulated registry, the Python example, and bridges that break one rule. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { reportEndOfBond } from '../../src/registry/simulated-bonds.ts';
import { createPartner, issueLoan } from '../core/loan-world.ts';
import { type RunningCommand, callCommand, startCommand } from '../support/command.ts';
import { createTestDatabase } from '../support/database.ts';
import { endOf } from '../support/ends.ts';
import { freePorts } from '../support/free-ports.ts';
import { listening } from '../support/listening.ts';
import { makeTestFolder } from '../support/test-folder.ts';

const TIMES = { timeout: 180_000 };
const EXAMPLE = resolve(import.meta.dirname, '../../src/registry/example/bridge.py');
const [database, folder] = await Promise.all([createTestDatabase(), makeTestFolder()]);

interface Checked {
  readonly fails: number;
  readonly unseen: number;
  readonly lines: readonly { readonly rule: string; readonly verdict: string; readonly seen: string }[];
}

async function check(url: string, ...more: string[]): Promise<{ code: number | null; stderr: string } & Checked> {
  const { code, stdout, stderr } = await callCommand(['registry', 'check', url, '--json', ...more]);
  return { code, stderr, ...(JSON.parse(stdout) as Checked) };
}

async function serve(...more: string[]): Promise<{ url: string; serving: RunningCommand }> {
  const env = { DATABASE_URL: database.url, SANDBOX: 'true', LOG_LEVEL: 'warn' };
  const serving = startCommand(['registry', 'serve', '--port', '0', ...more], env);
  const [, url = ''] = /listens on (\S+)/.exec(await serving.output(/listens on \S+\n/)) ?? [];
  return { url, serving };
}

test('the simulated registry keeps every rule, also one that works on registrations for a second', TIMES, async () => {
  const partner = await createPartner(database.sql);
  for (let count = 0; count < 320; count += 1) {
    // All about one loan: the references are what matters.
    const { id: loanId } = count === 0 ? await issueLoan(database.pool, partner) : { id: loans[0] ?? '' };
    loans.push(loanId);
    const data = { on: '2026-06-30', reason: { codigo: '02', descricao: '語'.repeat(200) } };
    // Together more than one answer may have.
    await reportEndOfBond(database.sql, { partnerId: partner.partnerId, loanId }, data);
  }
  await database.sql`update simulated_bonds set known_at = now() - interval '20 days' - random() * interval '20 days'`;
  const { url, serving } = await serve('--work', '1');
  const checked = await check(url);
  expect(checked.lines.filter(({ verdict }) => verdict === 'fails')).toEqual([]);
  expect(checked.code).toBe(0);
  const seen = Object.fromEntries(checked.lines.map(({ rule, seen: reported }) => [rule, reported]));
  expect(seen['POST /averbacoes answers 200 with protocolo_registry, 422 with erro, or 202 until then']).toBe(
    'answered 202, then 200',
  );
  expect(seen['GET /vinculos/desligamentos lists pages of the shape, and they end']).toBe('320 records in 2 pages');
  expect(await serving.end('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
});
const loans: string[] = [];

test('where SANDBOX is false no simulation starts', TIMES, async () => {
  const refused = await callCommand(['registry', 'serve'], { DATABASE_URL: database.url, SANDBOX: 'false' });
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toContain('registry serve is a simulation, and SANDBOX is false');
});

describe('the example in Python', () => {
  async function startExample(env: Record<string, string> = {}): Promise<string> {
    const [port = 0] = await freePorts(1);
    const child: ChildProcess = spawn('python3', [EXAMPLE], {
      env: { PATH: process.env['PATH'], BRIDGE_PORT: String(port), BRIDGE_DB: join(folder.path, `${port}.db`), ...env },
      stdio: 'ignore',
    });
    endOf(async () => {
      child.kill();
      await once(child, 'close');
    });
    const url = `http://127.0.0.1:${port}`;
    while (
      !(await fetch(`${url}/saude`).then(
        () => true,
        () => false,
      ))
    )
      await sleep(20);
    return url;
  }

  test('has at most 60 lines, of the standard library alone, and keeps every rule', TIMES, async () => {
    const text = readFileSync(EXAMPLE, 'utf8');
    expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(60);
    expect([...text.matchAll(/^(?:import|from) (\w+)/gm)].map(([, name]) => name)).toEqual([
      'json',
      'os',
      'sqlite3',
      'http',
      'threading',
    ]);
    const checked = await check(await startExample());
    expect(checked.lines.filter(({ verdict }) => verdict === 'fails')).toEqual([]);
    expect([checked.code, checked.stderr]).toEqual([0, '']);
  });
});

describe('a bridge that breaks a rule is told which', () => {
  /** A bridge that is right, but for what `spoil` answers. */
  async function spoiled(
    spoil: (path: string, body: Record<string, unknown>) => readonly [number, unknown] | null,
  ): Promise<string> {
    const made = new Map<string, unknown>();
    const right = (path: string, body: Record<string, unknown>): readonly [number, unknown] => {
      if (path === '/saude') return [200, {}];
      if (path === '/margens') return [200, { valor_total_vencimentos: 5000, valor_margem_disponivel: 1750 }];
      if (path.startsWith('/vinculos/')) return [200, { itens: [], proximo_cursor: null }];
      const id = (body['averbacao_id'] as string | undefined) ?? path.slice('/averbacoes/'.length);
      if (path === '/averbacoes' && !made.has(id)) made.set(id, { protocolo_registry: `P-${id}` });
      return made.has(id) ? [200, made.get(id)] : [404, { erro: 'nunca pedida' }];
    };
    const server = createServer((request, response: ServerResponse) => {
      let text = '';
      request.setEncoding('utf8').on('data', (part: string) => (text += part));
      request.on('end', () => {
        const [path = '', body] = [request.url?.split('?')[0], text === '' ? {} : JSON.parse(text)];
        const [status, answer] =
          spoil(path, body as Record<string, unknown>) ?? right(path, body as Record<string, unknown>);
        response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer));
      });
    });
    return `http://127.0.0.1:${await listening(server)}`;
  }
  let count = 0;
  const asked = new Set<string>();
  const bond = (referencia: string, loan: string) => ({
    referencia,
    parceiro_id: loan,
    emprestimo_id: loan,
    data_desligamento: '2026-01-31',
    motivo_desligamento: { codigo: '02', descricao: 'Sem justa causa' },
  });
  const ids = ['019a6e0b-7f3c-7d52-9a41-5c1d2e3f4a5b', '019a6e0b-7f3c-7d52-9a41-5c1d2e3f4a5c'] as const;

  test.each<[string, Parameters<typeof spoiled>[0], RegExp, RegExp]>([
    ['nothing', () => null, /^$/, /^$/],
    [
      'another answer each time',
      (path) => (path === '/averbacoes' ? [200, { protocolo_registry: `P-${(count += 1)}` }] : null),
      /same averbacao_id|one averbacao_id|tells the same/,
      /with another body|answered 404, after 200/,
    ],
    [
      'one protocol for all',
      (path) =>
        path.startsWith('/averbacoes/') ? null : path === '/averbacoes' ? [200, { protocolo_registry: 'P' }] : null,
      /protocol of its own|tells the same/,
      /one protocolo_registry|another body|after 200/,
    ],
    [
      // Ids of one minute begin alike: those of UUIDv4, which nobody asks with, would not.
      'protocols cut off behind eight characters',
      (path, body) => {
        const id = (body['averbacao_id'] as string | undefined) ?? path.slice('/averbacoes/'.length);
        if (path === '/averbacoes') asked.add(id);
        return path.startsWith('/averbacoes') && asked.has(id)
          ? [200, { protocolo_registry: `P-${id.slice(0, 8)}` }]
          : null;
      },
      /protocol of its own/,
      /one protocolo_registry/,
    ],
    [
      '200 for what was never asked',
      (path) => (path.startsWith('/averbacoes/') ? [200, { protocolo_registry: 'P' }] : null),
      /never asked|tells the same/,
      /answered 200/,
    ],
    ['no word for a refusal', (path) => (path === '/margens' ? [422, {}] : null), /POST \/margens/, /erro: /],
    [
      'a list without an end',
      (path) => (path === '/vinculos/novos' ? [200, { itens: [], proximo_cursor: 'c' }] : null),
      /vinculos\/novos/,
      /would never end/,
    ],
    [
      'one reference for two loans',
      (path) =>
        path === '/vinculos/desligamentos'
          ? [200, { itens: [bond('r', ids[0]), bond('r', ids[1])], proximo_cursor: null }]
          : null,
      /desligamentos/,
      /is of two loans|of other partners/,
    ],
    [
      'HTML',
      (path) => (path === '/margens' ? [200, '<html>'] : null),
      /POST \/margens|margins at once/,
      /the body: |not JSON/,
    ],
  ])('%s', TIMES, async (_, spoil, rule, seen) => {
    const { code, lines, fails } = await check(await spoiled(spoil));
    const failed = lines.filter(({ verdict }) => verdict === 'fails');
    expect(failed).toHaveLength(fails);
    expect(code).toBe(fails === 0 ? 0 : 1);
    expect(fails > 0).toBe(rule.source !== '^$');
    for (const line of failed) {
      expect(line.rule).toMatch(rule);
      expect(line.seen).toMatch(seen);
    }
  });

  test('500 to every call is an answer, and refused', TIMES, async () => {
    const { code, stderr, lines } = await check(await spoiled(() => [500, { erro: 'x' }]));
    expect([code, stderr]).toEqual([1, '']);
    expect(lines.filter(({ verdict }) => verdict === 'holds')).toEqual([]);
    expect(lines[0]).toMatchObject({ rule: 'GET /saude answers 2xx', seen: 'answered 500' });
  });

  test('nobody at the address is out of reach, and the help is a manual', TIMES, async () => {
    const away = await callCommand(['registry', 'check', 'http://127.0.0.1:1']);
    expect(away.code).toBe(3);
    expect(away.stdout).toMatch(/^FAILS {3}GET \/saude answers 2xx: GET \/saude: no answer \(ECONNREFUSED\)$/m);
    expect(away.stderr).toContain('nothing was heard from http://127.0.0.1:1');
    const help = await callCommand(['registry', 'check', '--help']);
    expect(help.stdout).toMatch(/point it to a test system[^]*Exit code: 0/);
    expect((await callCommand(['registry', 'check', 'http://example.com'])).code).toBe(2);
  });
});
