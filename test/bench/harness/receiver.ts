/** The parent's side of the receiver process. */
import { startChild } from './child.ts';
import type { ReceiverCalls } from './receiver-process.ts';

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;
export type Arrival = Awaited<ReturnType<Receiver['arrivals']>>[number];

export async function startReceiver() {
  const { url, ...calls } = await startChild<ReceiverCalls>('receiver');
  return { ...calls, url: await url() };
}
