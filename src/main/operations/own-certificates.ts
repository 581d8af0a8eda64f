/** Until when the certificates that this process shows others are good. */
import { readFile } from 'node:fs/promises';
import type { Config } from '../../config.ts';
import { endOfCertificate } from '../../pem.ts';

/** By the setting that names the file, as ISO instants. */
export type CertificateEnds = Readonly<Record<string, string>>;

/** A file that cannot be read is left out: who uses it says so. */
export async function readCertificateEnds(config: Config): Promise<CertificateEnds> {
  const files = {
    EGRESS_CERT_FILE: config.egressCertFile,
    REGISTRY_CERT_FILE: config.bridge.certFile,
    ANCHOR_TIMESTAMP_CERT_FILE: config.anchorTimestampCertFile,
  };
  const ends: Record<string, string> = {};
  for (const [setting, file] of Object.entries(files)) {
    const end = file === null ? null : endOfCertificate(await readFile(file, 'utf8').catch(() => ''));
    if (end !== null) ends[setting] = end.toISOString();
  }
  return ends;
}
