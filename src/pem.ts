/** Files of authorities, in PEM. OpenSSL takes a file without a certificate for an empty list, so we look ourselves. */
import { X509Certificate } from 'node:crypto';

export const NO_CERTIFICATE = 'holds no certificate in PEM';

export function isCertificate(text: string): boolean {
  try {
    return new X509Certificate(text).raw.length > 0;
  } catch {
    return false;
  }
}
