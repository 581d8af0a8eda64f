import type { Tx } from '../../../db/pool.ts';
import { TEST_NAME } from '../../../contract/delivery.ts';
import { readDay } from '../../arguments.ts';
import { command, required, UsageError } from '../../command.ts';

export const balance = command({
  summary: 'prove the deliveries from the events and the webhooks’ history',
  options: {
    from: required('--from <day>', 'the first day, AAAA-MM-DD', readDay),
    to: required('--to <day>', 'the last day', readDay),
  },
  help: `
By partner and day of São Paulo: events × webhooks subscribed when each was appended = entregue + pendente + erro +
suspensa. The left side comes from the events and the webhooks' history, never from the deliveries. ${TEST_NAME}
and notices stand outside. fato_inesperado is an event that our own core would not have written where it lies in its stream; it is
listed, and the balance closes all the same.

Output: as GET /v1/auditoria/balanco answers, with every difference.`,
  exits: { done: 'it closes', refused: 'there is a difference' },
  async run({ from, to }, { configure, print }) {
    if (from > to) throw new UsageError('--to: must not be before --from');
    const { config, log } = configure();
    const { addUp, readBalance } = await import('../../../audit/balance.ts');
    const { runJob } = await import('../../job-pool.ts');
    const { keeping } = await import('../../operations/keep-verdict.ts');
    return runJob({ config, log, print, onStrange: 'accept', needs: 'auditor' }, async (pool) => {
      const summary = await addUp(readBalance(pool, from, to), from, to, Infinity);
      const { fecha, total_diferencas: differences } = summary;
      const keep = (sql: Tx) => sql`
        insert into balance_verdicts (from_day, to_day, closes, differences) values (${from}, ${to}, ${fecha}, ${differences})`;
      await keeping(log, () => pool.run(keep));
      return { summary, isGood: summary.fecha };
    });
  },
});
