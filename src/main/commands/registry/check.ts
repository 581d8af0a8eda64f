import { InvalidArgumentError } from 'commander';
import { cnpj, cpf } from '../../../contract/tax-ids.ts';
import { isTrustworthy, withoutSlash } from '../../../environment-rules.ts';
import { command, EXIT, option, optionOr, OutOfReach } from '../../command.ts';
import { readInteger } from '../../arguments.ts';
import { json, tell } from '../../operator.ts';

const EXAMPLE = { cpf: '52998224725', cnpj: '11222333000181' };

export const check = command({
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
    const { checkBridge } = await import('../../../registry/check/check.ts');
    const settings = { ...config.bridge, url };
    const tellLine = ({ verdict, rule, seen }: { verdict: string; rule: string; seen: string }) => {
      if (!json) line.print(`${verdict === 'fails' ? 'FAILS ' : verdict.padEnd(6)}  ${rule}: ${seen}`);
    };
    const { lines, isHeard } = await checkBridge(settings, { cpf, cnpj, refusedCpf, waitS: wait }, tellLine);
    const count = (verdict: string) => lines.filter((one) => one.verdict === verdict).length;
    const [fails, unseen] = [count('fails'), count('unseen')];
    tell(line, json, { url, fails, unseen, lines }, `${lines.length} rules: ${fails} fail, ${unseen} unseen`);
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
