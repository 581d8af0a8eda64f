import type { SendResult } from '../../src/delivery/send.ts';

/** What the sender says of a POST that was answered with 200. */
export const DELIVERED: SendResult = {
  outcome: 'entregue',
  statusCode: 200,
  durationMs: 1,
  address: null,
  error: null,
  answer: null,
};
