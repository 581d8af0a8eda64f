/** The places outside that the settings name, with their files read. */
import { type Config, ConfigError } from '../../config.ts';
import type { Anchor } from '../../audit/anchor/anchor.ts';
import { Authorized } from '../../audit/anchor/authorization.ts';
import { bucketAnchor } from '../../audit/anchor/bucket.ts';
import { directoryAnchor } from '../../audit/anchor/directory.ts';
import { timestampAnchor } from '../../audit/anchor/timestamp.ts';
import { witnessAnchor } from '../../audit/anchor/witness.ts';
import { readWitnessKey } from '../../audit/checkpoint/cosignature.ts';
import { isCertificate, NO_CERTIFICATE } from '../../settings/pem.ts';
import { readNamed } from '../named-files.ts';

type Named = Pick<Config, Extract<keyof Config, `anchor${string}`>>;

/** Throws where a file cannot be read, or the witness's key is none. */
export async function openAnchors(config: Named): Promise<Anchor[]> {
  const { anchorTimestampUrl, anchorDirectory, anchorS3Url, anchorWitnessUrl } = config;
  const anchors: Anchor[] = [];
  if (anchorTimestampUrl !== null) {
    const { anchorTimestampCaFile: rootsFile, anchorTimestampAuthFile: authFile } = config;
    const { anchorTimestampCertFile: certFile, anchorTimestampKeyFile: keyFile } = config;
    const roots = rootsFile === null ? null : await readNamed('ANCHOR_TIMESTAMP_CA_FILE', rootsFile);
    if (roots !== null && !isCertificate(roots)) throw new ConfigError([`ANCHOR_TIMESTAMP_CA_FILE: ${NO_CERTIFICATE}`]);
    const authorized = new Authorized({ authFile, certFile, keyFile }, () => performance.now());
    anchors.push(timestampAnchor({ url: anchorTimestampUrl, roots, ask: (to, init) => authorized.ask(to, init) }));
  }
  if (anchorDirectory !== null) anchors.push(directoryAnchor(anchorDirectory));
  const { anchorS3Region: region, anchorS3KeyId: keyId, anchorS3SecretFile: secretFile } = config;
  if (anchorS3Url !== null && keyId !== null && secretFile !== null) {
    const secret = await readNamed('ANCHOR_S3_SECRET_FILE', secretFile);
    anchors.push(bucketAnchor({ url: anchorS3Url, region, keyId, secret }));
  }
  if (anchorWitnessUrl !== null) {
    const key = readWitnessKey(config.anchorWitnessKey ?? '');
    if (key === null) throw new ConfigError(['ANCHOR_WITNESS_KEY: is no key of cosignatures: its hash does not fit']);
    anchors.push(witnessAnchor({ url: anchorWitnessUrl, key }));
  }
  return anchors;
}
