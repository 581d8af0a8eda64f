/**
 * Clients of six languages that openapi-generator makes of /openapi.json, compiled and run against the API over a socket. The
 * generator's jar is OPENAPI_GENERATOR_JAR, or the newest that Maven keeps; else Maven is asked for it once. The Java clients
 * are compiled by `mvn` and the Go client by `go`, from their caches where those have what it needs; the Python client is run
 * by PYTHON, or python3, with pydantic, urllib3 and python-dateutil; the PHP client by `php` with Debian's Guzzle; the C# client
 * by Mono. What can't be had is told in a line, and its test skipped.
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
/** Debian's is older than the generated client asks for. */
const NEWTONSOFT = path.join(
  import.meta.dirname,
  '../../node_modules/jillejr.newtonsoft.json-for-unity/Plugins/Newtonsoft.Json Editor/Newtonsoft.Json.dll',
);

const run = promisify(execFile);

/** What each partner's program prints. */
const DONE = 'registered, listed, rotated, counted 0, margin told, refused 400 ERRO_VALIDACAO';

const api = await startApi({ allowInsecure: true });
const server = await startServer({ fetch: api.app.fetch, host: '127.0.0.1', port: 0 });
const folder = await mkdtemp(path.join(tmpdir(), 'carteiro-clients-'));
await writeFile(path.join(folder, 'openapi.json'), await (await fetch(`${server.url}/openapi.json`)).text());
const token = await api.token(await api.partner(), ['webhooks:read', 'webhooks:write', 'sandbox']);
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

const GENERATOR = 'org.openapitools:openapi-generator-cli:7.25.0';

function keptJar(): string | undefined {
  const kept = path.join(homedir(), '.m2/repository/org/openapitools/openapi-generator-cli/*/*.jar');
  return globSync(kept)
    .toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }))
    .at(-1);
}

const jar =
  process.env['OPENAPI_GENERATOR_JAR'] ??
  keptJar() ??
  ((await failureOf('mvn', [
    '--batch-mode',
    '--quiet',
    'dependency:get',
    `-Dartifact=${GENERATOR}`,
    '-Dtransitive=false',
  ])) === null
    ? keptJar()
    : undefined);

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
  if (jar === undefined) context.skip(`no jar of ${GENERATOR}, and Maven does not bring it`);
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
  expect(stdout.trim()).toBe(DONE);
});

test.for(['native', 'okhttp-gson'])(
  'the Java client on %s compiles, and the native one works',
  async (library, context) => {
    const made = await generate(context, library, [
      '-g',
      'java',
      '--library',
      library,
      '--additional-properties',
      'containerDefaultToNull=true',
    ]);
    const noMaven = await failureOf('mvn', ['--version']);
    if (noMaven !== null) context.skip(noMaven);
    if (library === 'native')
      await cp(path.join(programs, 'Partner.java'), path.join(made, 'src/main/java/Partner.java'));
    const maven = ['-f', path.join(made, 'pom.xml'), '--quiet', '--batch-mode'];
    const classpath = path.join(made, 'classpath');
    const compile = [
      ...maven,
      'compile',
      // The program is run on one of them; the other one's Maven plugins need not be there.
      ...(library === 'native' ? ['dependency:build-classpath', `-Dmdep.outputFile=${classpath}`] : []),
    ];
    let reported = await mavenOutput(['--offline', ...compile]);
    if (/offline mode/.test(reported)) reported = await mavenOutput(compile);
    if (/Could not (?:transfer|resolve)/.test(reported))
      context.skip(`Maven can't bring the libraries of the ${library} client`);
    expect(reported).toBe('');
    if (library !== 'native') return;
    const classes = `${path.join(made, 'target/classes')}:${(await readFile(classpath, 'utf8')).trim()}`;
    const { stdout } = await run('java', ['-cp', classes, 'Partner', server.url, token]);
    expect(stdout.trim()).toBe(DONE);
  },
);

test('the Go client compiles, and it works', async (context) => {
  const noGo = await failureOf('go', ['version']);
  if (noGo !== null) context.skip(noGo);
  const named = ['--git-host', 'example.com', '--git-user-id', 'carteiro', '--git-repo-id', 'client'];
  const made = await generate(context, 'go', ['-g', 'go', ...named, '-p', 'packageName=client']);
  await cp(path.join(programs, 'partner.go'), path.join(made, 'partner/main.go'));
  const env = { ...process.env, GOFLAGS: '-mod=mod' };
  try {
    const { stdout } = await run('go', ['run', './partner', server.url, token], { cwd: made, env });
    expect(stdout.trim()).toBe(DONE);
  } catch (error) {
    if (/dial tcp|GOPROXY=off/.test((error as Error).message)) context.skip("Go can't bring the modules of the client");
    throw error;
  }
});

test('every file of the PHP client is PHP, and it works', async (context) => {
  const noPhp = await failureOf('php', ['--version']);
  if (noPhp !== null) context.skip(noPhp);
  const made = await generate(context, 'php', ['-g', 'php']);
  const missing = await failureOf('php', ['-r', "require 'GuzzleHttp/autoload.php';"]);
  if (missing !== null) context.skip(`PHP lacks Guzzle: ${missing}`);
  const { stdout } = await run('php', [path.join(programs, 'partner.php'), made, server.url, token]);
  expect(stdout.trim()).toBe(DONE);
});

test('the C# client compiles, and it works', async (context) => {
  const noMono = (await failureOf('mcs', ['--version'])) ?? (await failureOf('mono', ['--version']));
  if (noMono !== null) context.skip(noMono);
  const made = await generate(context, 'csharp', [
    '-g',
    'csharp',
    '--library',
    'httpclient',
    '--additional-properties=targetFramework=netstandard2.0',
  ]);
  const json = path.join(made, 'Newtonsoft.Json.dll');
  await cp(NEWTONSOFT, json);
  const program = path.join(made, 'partner.exe');
  const frameworks = 'System.Net.Http,System.ComponentModel.DataAnnotations,System.Runtime.Serialization,System.Web';
  const sources = ['Partner.cs', 'Polly.cs'].map((file) => path.join(programs, file));
  await run('mcs', [
    '-langversion:latest',
    '-warn:0',
    `-out:${program}`,
    `-r:${frameworks}`,
    `-r:${json}`,
    ...sources,
    `-recurse:${path.join(made, 'src/Org.OpenAPITools/*.cs')}`,
  ]);
  const { stdout } = await run('mono', [program, server.url, token]);
  expect(stdout.trim()).toBe(DONE);
});

test('the TypeScript client compiles, and it works', async (context) => {
  const made = await generate(context, 'typescript', [
    '-g',
    'typescript-fetch',
    '--additional-properties=importFileExtension=.js',
  ]);
  await writeFile(path.join(made, 'package.json'), '{"type":"module"}');
  const options = ['--strict', '--target', 'es2022', '--module', 'nodenext', '--lib', 'es2022,dom', '--types', ''];
  await run('tsc', ['--ignoreConfig', ...options, '--outDir', path.join(made, 'out'), path.join(made, 'index.ts')]);
  const compiled = path.join(made, 'out/index.js');
  const { stdout } = await run(process.execPath, [path.join(programs, 'partner.mjs'), compiled, server.url, token]);
  expect(stdout.trim()).toBe(DONE);
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
