import type { RegistrySettings } from '../../src/outside-settings.ts';

/** Settings as they are without variables. */
export const REGISTRY_SETTINGS: RegistrySettings = {
  url: '',
  tokenFile: null,
  certFile: null,
  keyFile: null,
  caFile: null,
  timeoutS: 10,
  concurrency: 16,
};
