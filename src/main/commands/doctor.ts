import type { Finding } from '../../db/fitness/finding.ts';
import { table } from '../table.ts';
import { command, EXIT } from '../command.ts';
import { json, refuseNowhere, printResult } from '../operator.ts';
import { openDatabase } from '../service/database.ts';
import { openPool } from '../service/pools.ts';

export const doctor = command({
  summary: 'look at everything that Carteiro rests on, and say of each fault what to do',
  options: { json },
  help: `
Looks, from this host, with this environment and this login, at: PostgreSQL's version and settings, its clock against this
host's, transactions that stay open; migrations, epoch, roles and grants, and every table,
view, function and trigger against this release's; SECRETS_KEY against the stored secrets; the
issuer's key set; which api and poll live; the worker's key; sealer, projector and late deliveries; disk growth and vacuum; the standby of READ_DATABASE_URL; the names
of webhooks in DNS. It changes nothing. Run it before the first start of a host, and first when something is wrong. Where migrations are pending, it stops
at those.

Output: a line for each finding, faults first; with --json {"faults": 1, "warnings": 0, "findings": [{"about":
"synchronous_commit", "verdict": "fault", "found": "off", "advice": "set it to on: …"}]}; verdict is ok, warning or fault;
"stops": true stands at what a start is refused for.`,
  exits: { done: 'no fault was found; there may be warnings', refused: 'a fault was found' },
  async run({ json }, line) {
    const { config, log } = line.configure('secrets');
    refuseNowhere(config);
    const { examine } = await import('../operations/doctor.ts');
    const database = await openDatabase(config, log);
    const pool = openPool(config, database.url, 'doctor', 60_000);
    try {
      const findings = await examine(pool, config);
      const count = (wanted: Finding['verdict']) => findings.filter(({ verdict }) => verdict === wanted).length;
      const [faults, warnings] = [count('fault'), count('warning')];
      const text = `${linesOf(findings)}\n${faults} faults, ${warnings} warnings`;
      printResult(line, json, { faults, warnings, findings }, text);
      return faults > 0 ? EXIT.refused : EXIT.done;
    } finally {
      await pool.close();
      await database.close();
    }
  },
});

const ORDER = ['fault', 'warning', 'ok'] as const;

function linesOf(findings: readonly Finding[]): string {
  const inOrder = findings.toSorted((one, other) => ORDER.indexOf(one.verdict) - ORDER.indexOf(other.verdict));
  return table(
    inOrder.map(({ verdict, about, found, advice }) => {
      return { verdict, about, found: advice === null ? found : `${found}: ${advice}` };
    }),
  );
}
