import { table } from '../../table.ts';
import { readInteger } from '../../arguments.ts';
import { command, optionOr } from '../../command.ts';
import { json, rowsOr, steer, tell } from '../../operator.ts';

export const worst = command({
  summary: 'the webhooks that are worst off: held up by a fault of ours, late, failing, saturated',
  options: { limit: optionOr('--limit <number>', 'how many', readInteger(1, 1_000), 10), json },
  help: `
The webhooks with deliveries that are late or wait for a retry; those that a fault of ours holds
up come first, then those with the most late deliveries. /metrics only
counts them, because a label for each webhook would never end. Reads indexes up to a bound, so it may be run at any load.

  overdue          due and not taken, counted up to 1,000; oldest_seconds is the age of the oldest of them
  failing          a retry waits
  saturated        the webhook's cap, or its partner's share, is in use
  fault            what keeps its deliveries from being sent now, on our side; doctor tells what to do
  failed_attempts  of the last 15 minutes; resultado is the most frequent outcome among them

Output: text; with --json [{"webhook": "0199…", "partner": "0199…", "active": true, "overdue": 120, "oldest_seconds": 95,
"failing": true, "saturated": true, "max_in_flight": 8, "failed_attempts": 44, "resultado": "tempo_esgotado", "fault": null}].`,
  exits: { done: 'the list, which is empty when no webhook is late or failing' },
  async run({ limit, json: isJson }, line) {
    const { readWorst } = await import('../../operations/worst.ts');
    const webhooks = await steer(line, (pool) => pool.transaction((tx) => readWorst(tx, limit)), {
      onStrange: 'accept',
    });
    const text = rowsOr(webhooks, (rows) => table(rows.map((row) => ({ ...row }))), 'no webhook is late or failing');
    tell(line, isJson, webhooks, text);
  },
});
