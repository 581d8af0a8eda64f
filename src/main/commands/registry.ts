import { InvalidArgumentError } from 'commander';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { cnpj, cpf } from '../../contract/tax-ids.ts';
import { isTrustworthy, withoutSlash } from '../../settings/environment-rules.ts';
import { readInteger } from '../arguments.ts';
import { command, EXIT, option, optionOr, OutOfReach, UsageError, type Group } from '../command.ts';
import { withJobPool } from '../job-pool.ts';
import { json, printResult } from '../operator.ts';
import { untilStopped } from '../service/stop-signals.ts';

const serve = command({
  summary: 'run the simulated registry as the HTTP service that REGISTRY_URL names (sandbox, staging, tests)',
  options: {
    port: optionOr('--port <number>', 'where it listens; 0 takes a free one', readInteger(0, 65_535), 8400),
    host: optionOr('--host <address>', 'on which address', String, '127.0.0.1'),
    work: optionOr('--work <seconds>', 'how long it works on a registration, answering 202', readInteger(0, 3_600), 0),
  },
  help: `
Answers POST /margens, /averbacoes and GET /vinculos/… as a lender's bridge does (src/registry/README.md), from the tables
of the sandbox in this environment's database: what partners set with /v1/sandbox is what it answers. With
REGISTRY_TOKEN_FILE set it asks for that token. For a staging system:

  SANDBOX=true npm run -s cli -- registry serve --port 8400
  SANDBOX=false REGISTRY_URL=http://127.0.0.1:8400 npm run -s cli -- api

It is a simulation, so it does not start where SANDBOX is false. A signal ends it.`,
  exits: { done: 'a signal ended it', refused: 'the port cannot be listened on' },
  async run({ port, host, work }, { configure, print }) {
    const { config } = configure();
    if (!config.sandbox)
      throw new UsageError('registry serve is a simulation, and SANDBOX is false: set it to true for this command');
    const { createSimulatedService } = await import('../../registry/simulated-service.ts');
    const { startServer } = await import('../../http/server.ts');
    const { tokenFile } = config.bridge;
    const token = tokenFile === null ? null : (await readFile(tokenFile, 'utf8')).trim();
    await withJobPool({ configure }, async (pool) => {
      const { fetch } = createSimulatedService(pool, { token, workS: work });
      const server = await startServer({ fetch: (request) => fetch(request), host, port });
      print(`the simulated registry listens on ${server.url}`);
      await untilStopped((stopping) => once(stopping, 'abort'));
      await server.close();
    });
  },
});

const EXAMPLE = { cpf: '52998224725', cnpj: '11222333000181' };

const check = command({
  summary: 'run the contract of the registry against a bridge, and say rule by rule what does not hold',
  takes: { url: { about: 'the bridge’s base: https, or http on the loopback', read: readUrl } },
  options: {
    json,
    cpf: optionOr('--cpf <number>', 'a worker that the bridge knows', readTaxId(cpf), EXAMPLE.cpf),
    cnpj: optionOr('--cnpj <number>', 'the employer', readTaxId(cnpj), EXAMPLE.cnpj),
    refusedCpf: option('--refused-cpf <number>', 'a worker whose margin it refuses', readTaxId(cpf)),
    wait: optionOr('--wait <seconds>', 'how long a registration may be worked on', readInteger(1, 3_600), 60),
  },
  help: `
Makes registrations and margin queries: point it to a test system. Looks at the answers' shapes, at idempotency (again, at
once, with another body), at pages, references and windows of bonds, and at REGISTRY_CONCURRENCY calls at once. The token,
certificates and bounds are this environment's (REGISTRY_TOKEN_FILE and so on). Needs no database.

Output: a line for each rule as it is seen: holds, FAILS, or unseen (it could not be seen, and why). With --json
{"url": "…", "fails": 0, "unseen": 1, "lines": [{"rule": "…", "verdict": "holds", "seen": "…"}]}.`,
  exits: {
    done: 'no rule failed; some may be unseen',
    refused: 'a rule does not hold',
    outOfReach: 'nobody answers at the address',
  },
  async run({ url, json, cpf, cnpj, refusedCpf = null, wait }, line) {
    const { config } = line.configure();
    const { checkBridge } = await import('../../registry/check/check.ts');
    const settings = { ...config.bridge, url };
    const printLine = ({ verdict, rule, seen }: { verdict: string; rule: string; seen: string }) => {
      if (!json) line.print(`${verdict === 'fails' ? 'FAILS ' : verdict.padEnd(6)}  ${rule}: ${seen}`);
    };
    const { lines, isHeard } = await checkBridge(settings, { cpf, cnpj, refusedCpf, waitS: wait }, printLine);
    const count = (verdict: string) => lines.filter((one) => one.verdict === verdict).length;
    const [fails, unseen] = [count('fails'), count('unseen')];
    printResult(line, json, { url, fails, unseen, lines }, `${lines.length} rules: ${fails} fail, ${unseen} unseen`);
    if (!isHeard) throw new OutOfReach(`nothing was heard from ${url}: is that the bridge’s base?`);
    return fails > 0 ? EXIT.refused : EXIT.done;
  },
});

function readUrl(text: string): string {
  if (!isTrustworthy(text)) throw new InvalidArgumentError('must be an https URL, or an http URL on the loopback.');
  return withoutSlash(text);
}

function readTaxId(schema: typeof cpf) {
  return (text: string): string => {
    if (!schema.safeParse(text).success)
      throw new InvalidArgumentError('must be digits alone, with valid check digits.');
    return text;
  };
}

export const registry: Group = {
  about: 'the bridge to the employment-data registry: simulate it, check one',
  commands: { serve, check },
};
