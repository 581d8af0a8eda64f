/** What was sent to a partner in a window of time, step by step, and what waits. */
import { z } from 'zod';
import { component, timestamp } from '../values.ts';

/** Windows by name, in seconds, each with its step. */
export const WINDOWS = {
  '15m': { windowS: 900, stepS: 15 },
  '1h': { windowS: 3_600, stepS: 60 },
  '6h': { windowS: 21_600, stepS: 300 },
  '24h': { windowS: 86_400, stepS: 900 },
  '7d': { windowS: 604_800, stepS: 7_200 },
} as const;
export type WindowName = keyof typeof WINDOWS;
export const WINDOW_NAMES = Object.keys(WINDOWS) as WindowName[];

/** Attempts, and milliseconds from a delivery's making, in its event's transaction, to its arrival at the first attempt. */
const numbers = {
  entregues: z.int(),
  falhas: z.int(),
  p50_ms: z.int().nullable(),
  p99_ms: z.int().nullable(),
};

export const summary = component('Resumo', {
  passo_segundos: z.int(),
  /** Every step of the window, the oldest first. */
  passos: z.array(component('PassoDoResumo', { inicio: timestamp, ...numbers })),
  ...numbers,
  /** The window is told from then on only, for it has too many attempts; null when it is whole. */
  mostra_desde: timestamp.nullable(),
  espera: component('EsperaDoResumo', {
    pendentes: z.int(),
    vencidas: z.int(),
    /** When what waits longest was due; null when nothing is due. */
    vencida_desde: timestamp.nullable(),
    /** A webhook has more than were counted. */
    ha_mais: z.boolean(),
  }),
});
export type Summary = z.infer<typeof summary>;
