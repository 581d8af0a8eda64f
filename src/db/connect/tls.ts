/**
 * TLS to PostgreSQL. `sslmode` and `sslrootcert` in the URL mean what they mean to psql.
 * Invariant: with `verify-ca` and `verify-full` neither password nor statement leaves before the server has shown a certificate of
 * `sslrootcert` (without it: of a public authority), and with `verify-full` one for the URL's host.
 * Alternatives: `NODE_EXTRA_CA_CERTS` would let the private authority vouch for partners' endpoints too. The driver by itself sends
 * `sslrootcert` as a setting, and for an IP address accepts a certificate for "localhost".
 */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { isVerifying, type UrlTls } from '../../settings/database-url.ts';
import { isCertificate, NO_CERTIFICATE } from '../../settings/pem.ts';
import { DatabaseUnavailable } from '../unavailable.ts';

/** Empty when the URL says nothing about TLS. */
interface DriverTls {
  readonly ssl?: ConnectionOptions | 'prefer' | false;
  readonly sslnegotiation?: 'direct';
}

/** For one host; null for a Unix socket. Reads the files named in the URL. Throws `UntrustedServer` when one is unusable. */
export function tlsOf(url: UrlTls, host: string | null): DriverTls {
  const { mode, authority, certificate, key, keyPassword, isDirect } = url;
  if (mode === null || host === null) return {};
  if (mode === 'disable') return { ssl: false };
  const own = certificate !== null && key !== null;
  if ((mode === 'allow' || mode === 'prefer') && !own) return { ssl: 'prefer' };
  return {
    ...(isDirect && { sslnegotiation: 'direct' }),
    ssl: {
      rejectUnauthorized: isVerifying(mode),
      host,
      // SNI takes no addresses (RFC 6066).
      ...(isIP(host) === 0 && { servername: host }),
      ...(authority !== null && { ca: readNamed('sslrootcert', authority) }),
      ...(own && { cert: readNamed('sslcert', certificate), key: readNamed('sslkey', key) }),
      ...(keyPassword !== null && { passphrase: keyPassword }),
      ...(mode !== 'verify-full' && { checkServerIdentity: () => undefined }),
    },
  };
}

function readNamed(parameter: string, file: string): string {
  const named = `${parameter} in the database's URL: ${file}`;
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new UntrustedServer(`${named} cannot be read`, { cause: error });
  }
  if (parameter !== 'sslkey' && !isCertificate(text)) throw new UntrustedServer(`${named} ${NO_CERTIFICATE}`);
  return text;
}

/** OpenSSL's messages for a certificate without a trusted signer. */
const UNKNOWN_AUTHORITY =
  /^(UNABLE_TO_(VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT(_LOCALLY)?)|(SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT)|CERT_SIGNATURE_FAILURE)$/;

/**
 * The server is not who it should be or cannot show it, or we cannot show who we are. A start is refused; a running process waits, as in an
 * outage, because a certificate may be repaired.
 */
export class UntrustedServer extends DatabaseUnavailable {
  override name = 'UntrustedServer';
}

/** The error of a refused certificate, with advice; null for every other error. */
export function untrusted(error: unknown): UntrustedServer | null {
  if (error instanceof UntrustedServer) return error;
  const { code, message = '' } = (error ?? {}) as { code?: unknown; message?: string };
  const sentence = typeof code === 'string' ? sentenceOf(code, message) : null;
  return sentence === null ? null : new UntrustedServer(sentence, { cause: error });
}

function sentenceOf(code: string, message: string): string | null {
  if (UNKNOWN_AUTHORITY.test(code)) {
    return "the database's certificate is of another authority: set sslrootcert in the URL to the file of the one that signed it";
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return "the database's certificate is for another host: give the URL the name that the certificate has";
  }
  return code.startsWith('CERT_') ? `the database's certificate cannot be used: ${message}` : null;
}
