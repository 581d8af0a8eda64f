/** The variables of the employment-data registry: where the lender's bridge is, and how we show ourselves to it. */
import { z } from 'zod';

/** https, or http on the loopback. */
export function isTrustworthy(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  const isLoopback = hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
  return protocol === 'https:' || (protocol === 'http:' && isLoopback);
}

const registryUrl = z
  .string()
  .refine(isTrustworthy, 'must be an https URL, or an http URL on the loopback')
  .refine((text) => /^[^?#@]*$/.test(text), 'must be a base alone: no user, no query, no fragment')
  .transform((text) => text.replace(/\/+$/, ''));

const file = z.string().optional();

/** `integer` is the environment's own rule. */
export const registryVariables = (integer: (min: number, max: number) => z.ZodType<number, string>) => ({
  REGISTRY_URL: registryUrl.optional(),
  REGISTRY_TOKEN_FILE: file,
  REGISTRY_CERT_FILE: file,
  REGISTRY_KEY_FILE: file,
  REGISTRY_CA_FILE: file,
  REGISTRY_TIMEOUT_SECONDS: integer(1, 60).prefault('10'),
  REGISTRY_CONCURRENCY: integer(1, 1_000).prefault('16'),
});

type Values = z.output<z.ZodObject<ReturnType<typeof registryVariables>>>;
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
