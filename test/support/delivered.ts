import type { SendResult } from '../../src/delivery/sending/send.ts';

/** The sender's result for a POST that was answered with 200. */
export const DELIVERED: SendResult = {
  outcome: 'entregue',
  statusCode: 200,
  durationMs: 1,
  address: null,
  error: null,
  answer: null,
};
