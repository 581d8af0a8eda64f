/** What the attempts of a part say of their deliveries, and the deliveries that say something else. */
import type { Cells } from './cells.ts';
import { Ids, isSame, widened } from './ids.ts';
import type { CellGroup } from '../read-table.ts';

const SHARED = ['event_id', 'webhook_id', 'partner_id'] as const;
const TOLD_BYTES = SHARED.length * 16;
const ARRIVED = Buffer.from('entregue');

export class Tried {
  /** By delivery, in hexadecimal, the column in which it says something else than its attempts do, which are all in its part. */
  readonly unexpected = new Map<string, string>();
  readonly #deliveries = new Ids();
  /** Of each delivery, the ids of its first attempt. */
  #reported: Buffer = Buffer.allocUnsafeSlow(1_024 * TOLD_BYTES);
  /** The ids that another attempt contradicts, by their bits. */
  readonly #differing: number[] = [];
  readonly #inTime: number[] = [];
  readonly #hasArrived: boolean[] = [];

  hear({ cells, rows }: CellGroup): void {
    const [delivery, late, outcome] = columnsOf(cells, ['delivery_id', 'late', 'outcome']) as [Cells, Cells, Cells];
    const shared = columnsOf(cells, SHARED);
    for (let row = 0; row < rows; row += 1) {
      const { count } = this.#deliveries;
      const place = this.#deliveries.add(delivery.bytes, delivery.starts[row] as number);
      if (place === count) {
        [this.#differing[place], this.#inTime[place], this.#hasArrived[place]] = [0, 0, false];
        if ((place + 1) * TOLD_BYTES > this.#reported.length) this.#reported = widened(this.#reported);
      }
      for (const [index, { bytes, starts, lengths }] of shared.entries()) {
        const [from, at] = [place * TOLD_BYTES + 16 * index, starts[row] as number];
        if (place === count && lengths[row] === 16) bytes.copy(this.#reported, from, at, at + 16);
        // The event of a lost attempt may be unknown.
        else if (lengths[row] !== 16 || !isSame(this.#reported, from, bytes, at, 16))
          this.#differing[place] = (this.#differing[place] as number) | (1 << index);
      }
      if (late.bytes[late.starts[row] as number] === 0) this.#inTime[place] = (this.#inTime[place] as number) + 1;
      this.#hasArrived[place] ||= isArrived(outcome, row);
    }
  }

  judge({ cells, rows }: CellGroup): void {
    const [id, attempts, status] = columnsOf(cells, ['id', 'attempts', 'status']) as [Cells, Cells, Cells];
    const shared = columnsOf(cells, SHARED);
    for (let row = 0; row < rows; row += 1) {
      const at = id.starts[row] as number;
      const place = this.#deliveries.find(id.bytes, at);
      if (place < 0 || attempts.bytes.readInt32LE(attempts.starts[row]) !== this.#inTime[place]) continue;
      const wrong = shared.findIndex(
        ({ bytes, starts }, index) =>
          ((this.#differing[place] as number) >> index) % 2 === 1 ||
          !isSame(this.#reported, place * TOLD_BYTES + 16 * index, bytes, starts[row] as number, 16),
      );
      const column = SHARED[wrong] ?? (isArrived(status, row) === this.#hasArrived[place] ? null : 'status');
      if (column !== null) this.unexpected.set(id.bytes.toString('hex', at, at + 16), column);
    }
  }
}

const columnsOf = (cells: CellGroup['cells'], names: readonly string[]) =>
  names.map((name) => cells.get(name) as Cells);

function isArrived({ bytes, starts, lengths }: Cells, row: number): boolean {
  return lengths[row] === ARRIVED.length && isSame(ARRIVED, 0, bytes, starts[row] as number, ARRIVED.length);
}
