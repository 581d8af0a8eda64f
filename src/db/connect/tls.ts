/**
 * TLS to PostgreSQL. `sslmode` and `sslrootcert` in the URL mean what they mean to psql.
 *
 * Invariant: with `verify-ca` and `verify-full` neither password nor statement leaves before the server has shown a
 * certificate of `sslrootcert` (without it: of a public authority), and with `verify-full` one for the URL's host.
 * Alternatives: `NODE_EXTRA_CA_CERTS` would let the private authority vouch for partners' endpoints too. The driver alone
 * sends `sslrootcert` to the server as a setting, and where the URL has an IP address it accepts a certificate for
 * "localhost".
 */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { isVerifying, readTls } from '../../database-url.ts';
import { isCertificate, NO_CERTIFICATE } from '../../pem.ts';
import { DatabaseUnavailable } from '../unavailable.ts';

/** What the driver is told beside the URL; empty when the URL says nothing about TLS. */
export interface DatabaseTls {
  readonly ssl?: ConnectionOptions | 'require' | 'allow' | 'prefer' | false;
}

/** Parameters that are told to the driver beside the URL, because it would send them to the server as settings. */
export const TLS_PARAMETERS = ['sslmode', 'sslrootcert'];

/** Reads the authority's file. Throws with a sentence when it cannot be used. */
export function tlsOf(url: string): DatabaseTls {
  const { mode, authority } = readTls(url);
  if (mode === null) return {};
  if (!isVerifying(mode)) return { ssl: mode === 'disable' ? false : (mode as 'require') };
  const host = new URL(url).hostname.replace(/^\[(.*)\]$/, '$1');
  return {
    ssl: {
      rejectUnauthorized: true,
      host,
      // A server is not asked for by its address (RFC 6066).
      ...(isIP(host) === 0 && { servername: host }),
      ...(authority !== null && { ca: readAuthority(authority) }),
      ...(mode === 'verify-ca' && { checkServerIdentity: () => undefined }),
    },
  };
}

/** The file of `sslrootcert` cannot be used. With a code of its own: that of a missing file would mean a missing socket. */
class UnusableAuthority extends Error {
  override name = 'UnusableAuthority';
  readonly code = 'SSLROOTCERT';
}

function readAuthority(file: string): string {
  const named = `sslrootcert in the database's URL: ${file}`;
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new UnusableAuthority(`${named} cannot be read`, { cause: error });
  }
  if (!isCertificate(text)) throw new UnusableAuthority(`${named} ${NO_CERTIFICATE}`);
  return text;
}

/** OpenSSL's words for a certificate that nobody we trust has signed. */
const UNKNOWN_AUTHORITY =
  /^(UNABLE_TO_(VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT(_LOCALLY)?)|(SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT)|CERT_SIGNATURE_FAILURE)$/;

/**
 * The database's server is not who it should be, or cannot show it. A start is refused for that; a process that works waits,
 * as for a database that is away, because a certificate may be put right.
 */
export class UntrustedServer extends DatabaseUnavailable {
  override name = 'UntrustedServer';
}

/** The error of a refused certificate with a sentence of what to do; null for every other error. */
export function untrusted(error: unknown): UntrustedServer | null {
  const { code, message = '' } = (error ?? {}) as { code?: unknown; message?: string };
  const told = typeof code === 'string' ? sentenceOf(code, message) : null;
  return told === null ? null : new UntrustedServer(told, { cause: error });
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
