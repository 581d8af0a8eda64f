/** What the settings of `EGRESS_…` make of a poller's connections to receivers. */
import { type Config, ConfigError } from '../../config.ts';
import { readIdentity } from '../../delivery/target/identity.ts';
import type { Logger } from '../../log-lines.ts';
import { reasonOf } from '../reason.ts';
import { readNamed } from '../named-files.ts';

const FILES = 'EGRESS_CERT_FILE, EGRESS_KEY_FILE, EGRESS_CA_FILE';

type Egress = Pick<
  Config,
  'egressProxyUrl' | 'egressProxyAuthFile' | 'egressProxyResolves' | 'egressCertFile' | 'egressKeyFile' | 'egressCaFile'
>;

async function readAuthorization(file: string): Promise<string> {
  const user = await readNamed('EGRESS_PROXY_AUTH_FILE', file);
  if (!/^[\x20-\x39\x3b-\x7e]+:[\x20-\x7e]+$/.test(user))
    throw new ConfigError(['EGRESS_PROXY_AUTH_FILE: must hold one line, user:password']);
  return `Basic ${Buffer.from(user).toString('base64')}`;
}

/** Reads the files; a certificate that is exchanged later is read again. Throws {@link ConfigError}. */
export async function openEgress(config: Egress, log: Logger) {
  const { egressProxyUrl: url, egressProxyAuthFile: authFile, egressProxyResolves: resolves } = config;
  const { egressCertFile: certFile, egressKeyFile: keyFile, egressCaFile: caFile } = config;
  const authorization = url === null || authFile === null ? null : await readAuthorization(authFile);
  const through = url === null ? null : { url: new URL(url), authorization, resolves };
  if (certFile === null && caFile === null) return { proxy: through };
  const onFault = (error: unknown) =>
    log.warn({ reason: reasonOf(error) }, `a file of ${FILES} cannot be used; what was read before stays`);
  const identity = await readIdentity({ certFile, keyFile, caFile }, onFault).catch((error: unknown) => {
    throw new ConfigError([`${FILES}: cannot be used (${reasonOf(error)})`]);
  });
  return { proxy: through, identity };
}
