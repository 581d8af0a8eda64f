import type { Logger } from '../../src/log-lines.ts';

const ignore = (): void => undefined;

/** A log that writes nothing. */
export const silentLog: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };
