/**
 * Moves this process's wall clock, as a preload (`node --import`): by CLOCK_SHIFT_MS from the start, and at SIGUSR2 by
 * twice that in the other direction. Durations (`performance.now`) stay as they are, as when a system's clock is corrected.
 */
const RealDate = Date;
let shiftMs = Number(process.env['CLOCK_SHIFT_MS'] ?? 0);

globalThis.Date = class extends RealDate {
  constructor(...args: ConstructorParameters<DateConstructor> | []) {
    if (args.length === 0) super(RealDate.now() + shiftMs);
    else super(...(args as [number]));
  }

  static override now(): number {
    return RealDate.now() + shiftMs;
  }
} as DateConstructor;

process.on('SIGUSR2', () => {
  shiftMs = -shiftMs;
  process.stderr.write(`clock now ${new Date().toISOString()}\n`);
});
