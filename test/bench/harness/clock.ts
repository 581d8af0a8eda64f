/** Milliseconds on the machine's monotonic clock: the same in every process, unlike `performance.now()`. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
