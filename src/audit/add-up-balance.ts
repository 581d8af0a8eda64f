/** The slices of a balance added up, by partner and day and in all. */
import {
  type BalanceLine,
  type BalanceResource,
  type DifferenceResource,
  MAX_LISTED_DIFFERENCES,
} from '../contract/resources/audit-resource.ts';
import type { BalanceSlice } from './balance.ts';

const COUNTS = ['eventos', 'esperadas', 'entregue', 'pendente', 'erro', 'suspensa', 'importados'] as const;
type Counts = BalanceResource['total'];

function plus(one: Counts, other: Counts): Counts {
  return Object.fromEntries(COUNTS.map((name) => [name, one[name] + other[name]])) as Counts;
}

const NOTHING: Counts = { eventos: 0, esperadas: 0, entregue: 0, pendente: 0, erro: 0, suspensa: 0, importados: 0 };

type BalanceEnd = Omit<BalanceResource, 'de' | 'ate' | 'linhas'>;

/** Yields after each slice the lines of the day that ended (or none); returns the sums: all differences counted, `listed` named. */
async function* addUpByDay(
  slices: AsyncIterable<BalanceSlice>,
  listed: number,
): AsyncGenerator<readonly BalanceLine[], BalanceEnd> {
  let lines = new Map<string, BalanceLine>();
  let day = '';
  let total = NOTHING;
  let [found, broken, keptDays] = [0, 0, 0];
  const seals: number[] = [];
  const differences: DifferenceResource[] = [];
  const over = () => [...lines.values()].toSorted((one, other) => (one.parceiro_id < other.parceiro_id ? -1 : 1));
  for await (const slice of slices) {
    const { firstSeal = null, lastSeal = null } = slice;
    if (lastSeal !== null) keptDays += 1;
    for (const seal of [firstSeal, lastSeal]) if (seal !== null) seals.push(seal);
    const next = slice.lines[0]?.dia ?? day;
    const isNewDay = next !== day;
    yield isNewDay ? over() : [];
    if (isNewDay) [lines, day] = [new Map(), next];
    for (const line of slice.lines) {
      const before = lines.get(line.parceiro_id);
      lines.set(line.parceiro_id, before === undefined ? line : { ...line, ...plus(before, line) });
      total = plus(total, line);
    }
    found += slice.differences.length;
    broken += slice.differences.filter(({ tipo }) => tipo !== 'fato_inesperado').length;
    differences.push(...slice.differences.slice(0, listed - differences.length));
  }
  yield over();
  const guardados =
    keptDays === 0 ? null : { dias: keptDays, selo_de: Math.min(...seals), selo_ate: Math.max(...seals) };
  return { total, diferencas: differences, total_diferencas: found, fecha: broken === 0, guardados };
}

export async function addUp(
  slices: AsyncIterable<BalanceSlice>,
  de: string,
  ate: string,
  listed: number,
  onDay: (day: string) => void = () => undefined,
): Promise<BalanceResource> {
  const days = addUpByDay(slices, listed);
  const linhas: BalanceLine[] = [];
  for (;;) {
    const { done, value } = await days.next();
    if (done) return { de, ate, linhas, ...value };
    linhas.push(...value);
    if (value[0] !== undefined) onDay(value[0].dia);
  }
}

/**
 * The JSON of a `BalanceResource`, in pieces, while it is counted. Each hour sends at least a line break, so that no proxy drops the
 * connection. The first hour is counted before: a database out of reach is still a 503. A later fault ends the connection.
 */
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
