/**
 * Our client certificate for TLS, and the authorities trusted beside the built-in ones. All connections share the context: one per
 * connection was most of its memory and time.
 * A rotated certificate is read at the next connection, at most once in ten seconds. Unusable files change nothing: POSTs go on with the
 * last good ones, and `onFault` is called. Open connections stay.
 */
import { readFile } from 'node:fs/promises';
import { createSecureContext, rootCertificates, type SecureContext, type SecureContextOptions } from 'node:tls';
import { stampOf } from '../../settings/file-stamps.ts';
import { isCertificate, NO_CERTIFICATE } from '../../settings/pem.ts';
import { BoundedCache } from './bounded-cache.ts';

interface IdentityFiles {
  readonly certFile: string | null;
  readonly keyFile: string | null;
  readonly caFile: string | null;
}

const CHECK_MS = 10_000;

function makeSecureContext({ ca, ...shown }: Pick<SecureContextOptions, 'cert' | 'key'> & { ca?: string } = {}) {
  return createSecureContext({
    minVersion: 'TLSv1.2',
    ...shown,
    ...(ca !== undefined && { ca: [...rootCertificates, ca] }),
  });
}

/** A webhook's own. */
export interface ClientCertificate {
  readonly cert: string;
  readonly key: string;
}

/** The context for the next connection; `own` replaces our certificate. */
export type Identity = (own?: ClientCertificate | null) => Promise<SecureContext>;

/** Contexts of webhooks' own certificates, each made once per trusted `ca`. */
function rememberContexts(): (own: ClientCertificate, ca: string | undefined) => SecureContext {
  const known = new BoundedCache<SecureContext>(1_000);
  return (own, ca) =>
    known.get(JSON.stringify([own.cert, own.key, ca]), () =>
      makeSecureContext({ ...own, ...(ca !== undefined && { ca }) }),
    );
}

/** Without a client certificate; trusts `ca` beside the built-in authorities. */
export function plainIdentity(ca?: string): Identity {
  const shared = makeSecureContext(ca === undefined ? {} : { ca });
  const contextOf = rememberContexts();
  return (own = null) => Promise.resolve(own === null ? shared : contextOf(own, ca));
}

/** Reads the files now; rejects when they are unreadable or do not belong together. */
export async function readIdentity(
  files: IdentityFiles,
  onFault: (error: unknown) => void,
  nowMs: () => number = () => performance.now(),
): Promise<Identity> {
  const all = [files.certFile, files.keyFile, files.caFile];
  let stamp = await stampOf(all);
  const contextOf = rememberContexts();
  let read = await readContext(files);
  let lookedAtMs = nowMs();
  return async (own = null) => {
    if (nowMs() - lookedAtMs >= CHECK_MS) {
      lookedAtMs = nowMs();
      try {
        const newest = await stampOf(all);
        if (newest !== stamp) read = await readContext(files);
        stamp = newest;
      } catch (error) {
        onFault(error);
      }
    }
    return own === null ? read.context : contextOf(own, read.ca);
  };
}

async function readContext(files: IdentityFiles) {
  const read = async (file: string | null) => (file === null ? undefined : readFile(file, 'utf8'));
  const [cert, key, ca] = await Promise.all([read(files.certFile), read(files.keyFile), read(files.caFile)]);
  if (ca !== undefined && !isCertificate(ca)) throw new Error(`EGRESS_CA_FILE ${NO_CERTIFICATE}`);
  // Node takes an empty file for none, and nothing would be shown: a file is empty for a moment while it is written in place.
  if (cert !== undefined && !isCertificate(cert)) throw new Error(`EGRESS_CERT_FILE ${NO_CERTIFICATE}`);
  if (key === '') throw new Error('EGRESS_KEY_FILE is empty');
  const context = makeSecureContext({
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(ca !== undefined && { ca }),
  });
  return { context, ca };
}
