import { X509Certificate } from 'node:crypto';

export const NO_CERTIFICATE = 'holds no certificate in PEM';

/** When the first certificate in `text` ends; null: there is none. OpenSSL takes a file without one for an empty list, so we check. */
export function endOfCertificate(text: string): Date | null {
  try {
    return new X509Certificate(text).validToDate;
  } catch {
    return null;
  }
}

export const isCertificate = (text: string): boolean => endOfCertificate(text) !== null;
