import { readConfig } from '../../src/config.ts';

/** Settings as they are without variables. */
export const REGISTRY_SETTINGS = readConfig({}).bridge;
