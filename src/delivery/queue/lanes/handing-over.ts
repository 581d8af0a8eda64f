/**
 * Which lanes a keeper of too many hands over. Pure.
 *
 * Invariant: nothing is in flight of a lane that is handed over, so its next keeper need not ask what flies. A backlog keeps all lanes busy,
 * and a poller that came to help would get none: so busy ones take nothing new until the next time. Most have come free by then; the
 * others go on, and others take their turn.
 */
import type { KeptLane } from './kept-lane.ts';

/** At most `most`: first those that nothing known is due of. */
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
