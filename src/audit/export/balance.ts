/**
 * The balance as JSON text, written while it is counted. Each hour sends at least a line break, so that no proxy drops the
 * connection. The first hour is counted before the answer begins: a database out of reach is still a 503. A later fault ends the
 * connection within the JSON.
 */
import { addUpByDay, type BalanceEnd } from '../add-up-balance.ts';
import { type BalanceSlice } from '../balance.ts';
import { MAX_LISTED_DIFFERENCES, type BalanceLine } from '../../contract/resources/audit-resource.ts';

/** The JSON of a `BalanceResource`, in pieces. */
export async function writeBalance(
  slices: AsyncIterable<BalanceSlice>,
  de: string,
  ate: string,
): Promise<AsyncIterable<string>> {
  const days = addUpByDay(slices, MAX_LISTED_DIFFERENCES);
  let step: IteratorResult<readonly BalanceLine[], BalanceEnd> = await days.next();

  async function* chunks(): AsyncGenerator<string> {
    yield `${JSON.stringify({ de, ate }).slice(0, -1)},"linhas":[`;
    let separator = '\n';
    while (!step.done) {
      for (const line of step.value) {
        yield separator + JSON.stringify(line);
        separator = ',\n';
      }
      if (step.value.length === 0) yield '\n';
      step = await days.next();
    }
    yield `],\n${JSON.stringify(step.value).slice(1)}\n`;
  }
  return chunks();
}
