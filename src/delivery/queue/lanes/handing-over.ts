/**
 * Which lanes a keeper of too many hands over. Pure.
 * Invariant: a lane is handed over only with nothing in flight, so its next keeper need not ask. Under a backlog every lane is busy, so
 * busy excess lanes take nothing new until the next heartbeat; most are free by then.
 */
import type { KeptLane } from './kept-lane.ts';

/** At most `most`; lanes without due work first. */
export function excessOf(
  lanes: readonly KeptLane[],
  most: number,
  isDue: (lane: KeptLane) => boolean,
): readonly KeptLane[] {
  const all = lanes.toSorted((one, other) => Number(one.isLeaving) - Number(other.isLeaving));
  for (const lane of all) lane.isLeaving = false;
  if (most <= 0) return [];
  const [still, busy] = [all.filter(({ flying }) => flying.size === 0), all.filter(({ flying }) => flying.size > 0)];
  const handed = still.toSorted((one, other) => Number(isDue(one)) - Number(isDue(other))).slice(0, most);
  for (const lane of busy.slice(0, most - handed.length)) lane.isLeaving = true;
  return handed;
}
