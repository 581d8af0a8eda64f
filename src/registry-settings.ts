/** The variables of the employment-data registry: where the lender's bridge is, and how we show ourselves to it. */
import { z } from 'zod';
import { baseUrl, integer } from './environment-rules.ts';

const file = z.string().optional();

export const REGISTRY_VARIABLES = {
  REGISTRY_URL: baseUrl.optional(),
  REGISTRY_TOKEN_FILE: file,
  REGISTRY_CERT_FILE: file,
  REGISTRY_KEY_FILE: file,
  REGISTRY_CA_FILE: file,
  REGISTRY_TIMEOUT_SECONDS: integer(1, 60).default(10),
  REGISTRY_CONCURRENCY: integer(1, 1_000).default(16),
};

type Values = z.output<z.ZodObject<typeof REGISTRY_VARIABLES>>;
/** `token` is sent as it is, for a bridge of this process's own. */
export type RegistrySettings = ReturnType<typeof registrySettings> & { readonly token?: string };

/** For the bridge at `url`, which has no slash at its end. */
export function registrySettings(url: string, values: Omit<Values, 'REGISTRY_URL'>) {
  return {
    url,
    tokenFile: values.REGISTRY_TOKEN_FILE ?? null,
    certFile: values.REGISTRY_CERT_FILE ?? null,
    keyFile: values.REGISTRY_KEY_FILE ?? null,
    caFile: values.REGISTRY_CA_FILE ?? null,
    timeoutS: values.REGISTRY_TIMEOUT_SECONDS,
    concurrency: values.REGISTRY_CONCURRENCY,
  };
}
