/**
 * Clients that openapi-generator makes of /openapi.json, compiled and run against the API over a socket. The generator is
 * not a dependency, and nothing is downloaded here: its jar is OPENAPI_GENERATOR_JAR, or the newest that Maven keeps
 * (`mvn dependency:get -Dartifact=org.openapitools:openapi-generator-cli:7.25.0 -Dtransitive=false`). The Java clients are
 * compiled by `mvn --offline` (build one once to have its libraries); the Python client is run by PYTHON, or python3, with
 * pydantic, urllib3 and python-dateutil; the Go client is built by `go`, from its module cache. What is not there is told in a line, and its test skipped.
 */
import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test, type TestContext } from 'vitest';
import { startServer } from '../../src/http/server.ts';
import { startApi } from '../support/api.ts';
import { makeNextRelease } from '../support/next-release.ts';

const PYTHON = process.env['PYTHON'] ?? 'python3';
const programs = path.join(import.meta.dirname, 'generated-clients');

const run = promisify(execFile);

const api = await startApi({ allowInsecure: true });
const server = await startServer({ fetch: api.app.fetch, host: '127.0.0.1', port: 0 });
const folder = await mkdtemp(path.join(tmpdir(), 'carteiro-clients-'));
await writeFile(path.join(folder, 'openapi.json'), await (await fetch(`${server.url}/openapi.json`)).text());
const token = await api.token(await api.partner(), ['webhooks:read', 'webhooks:write', 'sandbox']);
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

function findJar(): string | undefined {
  const given = process.env['OPENAPI_GENERATOR_JAR'];
  if (given !== undefined) return given;
  const kept = path.join(homedir(), '.m2/repository/org/openapitools/openapi-generator-cli/*/*.jar');
  return globSync(kept)
    .toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }))
    .at(-1);
}

/** Null when the command runs; else why not, in a line. */
async function failureOf(command: string, args: readonly string[]): Promise<string | null> {
  try {
    await run(command, args);
    return null;
  } catch (error) {
    return `${command}: ${(error as Error).message.trim().split('\n').at(-1)}`;
  }
}

/** The errors that Maven tells; empty when it ends well. */
async function mavenOutput(args: readonly string[]): Promise<string> {
  try {
    await run('mvn', args);
    return '';
  } catch (error) {
    return (error as { stdout?: string }).stdout ?? String(error);
  }
}

/** Makes a client; skips the test, in a line, where the generator is not there. */
async function generate(
  context: TestContext,
  client: string,
  args: readonly string[],
  description = path.join(folder, 'openapi.json'),
): Promise<string> {
  const jar = findJar();
  if (jar === undefined) context.skip('no jar of openapi-generator: set OPENAPI_GENERATOR_JAR');
  const noJava = await failureOf('java', ['-version']);
  if (noJava !== null) context.skip(noJava);
  const made = path.join(folder, client);
  await run('java', ['-jar', jar, 'generate', '-i', description, ...args, '-o', made]);
  return made;
}

test('every file of the Python client is Python, and it works', async (context) => {
  const noPython = await failureOf(PYTHON, ['--version']);
  if (noPython !== null) context.skip(noPython);
  const made = await generate(context, 'python', ['-g', 'python']);
  await run(PYTHON, ['-m', 'compileall', '-q', made]);
  expect(globSync(path.join(made, 'openapi_client/models/evento_*.py')).length).toBeGreaterThanOrEqual(16);
  const missing = await failureOf(PYTHON, ['-c', 'import pydantic, urllib3, dateutil']);
  if (missing !== null) context.skip(`compiled, not run: ${missing}`);
  const env = { ...process.env, PYTHONPATH: made };
  const { stdout } = await run(PYTHON, [path.join(programs, 'partner.py'), server.url, token], { env });
  expect(stdout.trim()).toBe('registered, listed, rotated, counted 0, margin told, refused 400 ERRO_VALIDACAO');
});

test.for(['native', 'okhttp-gson'])(
  'the Java client on %s compiles, and the native one works',
  async (library, context) => {
    const made = await generate(context, library, ['-g', 'java', '--library', library]);
    const noMaven = await failureOf('mvn', ['--version']);
    if (noMaven !== null) context.skip(noMaven);
    if (library === 'native')
      await cp(path.join(programs, 'Partner.java'), path.join(made, 'src/main/java/Partner.java'));
    const maven = ['-f', path.join(made, 'pom.xml'), '--offline', '--quiet', '--batch-mode'];
    const classpath = path.join(made, 'classpath');
    const told = await mavenOutput([
      ...maven,
      'compile',
      // The program is run on one of them; the other one's Maven plugins need not be there.
      ...(library === 'native' ? ['dependency:build-classpath', `-Dmdep.outputFile=${classpath}`] : []),
    ]);
    if (/offline mode/.test(told)) context.skip(`Maven lacks libraries of the ${library} client: compile one once`);
    expect(told).toBe('');
    if (library !== 'native') return;
    const classes = `${path.join(made, 'target/classes')}:${(await readFile(classpath, 'utf8')).trim()}`;
    const { stdout } = await run('java', ['-cp', classes, 'Partner', server.url, token]);
    expect(stdout.trim()).toBe('registered, listed, rotated, counted 0, margin told, refused 400 ERRO_VALIDACAO');
  },
);

test('the Go client compiles, and it works', async (context) => {
  const noGo = await failureOf('go', ['version']);
  if (noGo !== null) context.skip(noGo);
  const named = ['--git-host', 'example.com', '--git-user-id', 'carteiro', '--git-repo-id', 'client'];
  const made = await generate(context, 'go', ['-g', 'go', ...named, '-p', 'packageName=client']);
  await cp(path.join(programs, 'partner.go'), path.join(made, 'partner/main.go'));
  const env = { ...process.env, GOFLAGS: '-mod=mod', GOPROXY: 'off' };
  try {
    const { stdout } = await run('go', ['run', './partner', server.url, token], { cwd: made, env });
    expect(stdout.trim()).toBe('registered, listed, rotated, counted 0, margin told, refused 400 ERRO_VALIDACAO');
  } catch (error) {
    if (/GOPROXY=off/.test((error as Error).message)) context.skip('Go lacks modules of the client: build one once');
    throw error;
  }
});

describe('the next release has an event more, a key that may be absent and one that may be null. The receivers’ types follow in', () => {
  let described: string;
  beforeAll(async () => {
    const next = path.join(folder, 'next');
    await makeNextRelease(next);
    await run(process.execPath, [path.join(next, 'test/http/make-client-types.ts')]);
    described = path.join(next, 'test/http/generated');
  });
  const typesIn = async (made: string, file: string) => readFile(path.join(made, file), 'utf8');

  test('TypeScript', async () => {
    const types = await typesIn(described, 'openapi.ts');
    expect(types).toMatch(/EventoDesembolsoEstornado: \{/);
    const [, failed = ''] = types.split('EventoDesembolsoFalhou: {');
    expect(failed.slice(0, failed.indexOf('};'))).toMatch(/motivo: string \| null;[^]*canal\?: "web" \| "app";/);
  });

  test.for([
    [
      'Python',
      ['-g', 'python'],
      'openapi_client/models/evento_desembolso_',
      'falhou_data.py',
      'estornado.py',
      /motivo: Optional\[StrictStr\].*\n\s+canal: Optional\[StrictStr\] = (?:None|Field\(default=None)/,
    ],
    [
      'Java',
      ['-g', 'java', '--library', 'native'],
      'src/main/java/org/openapitools/client/model/EventoDesembolso',
      'FalhouData.java',
      'Estornado.java',
      /setMotivo\(@javax.annotation.Nullable String[^]*setCanal\(@javax.annotation.Nullable CanalEnum/,
    ],
    [
      'Go',
      ['-g', 'go', '-p', 'packageName=client'],
      'model_evento_desembolso_',
      'falhou_data.go',
      'estornado.go',
      /Motivo NullableString `json:"motivo"`\n(?:\s+\/\/.*\n)?\s+Canal \*string `json:"canal,omitempty"`/,
    ],
  ] as const)('%s', async ([language, args, models, failed, estornado, keys], context) => {
    const made = await generate(context, `next ${language}`, args, path.join(described, 'openapi.json'));
    expect(await typesIn(made, models + failed)).toMatch(keys);
    expect(await typesIn(made, models + estornado)).toMatch(/EventoDesembolsoEstornado\b/);
  });
});
