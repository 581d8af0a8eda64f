import type { RegistrySettings } from '../../src/registry-settings.ts';

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
