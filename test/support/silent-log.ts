import type { Logger } from '../../src/log-lines.ts';

const ignore = (): void => undefined;

/** A log that nobody reads. */
export const silentLog: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };
