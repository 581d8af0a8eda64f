/** The places outside that the settings name, with their files read. */
import { ConfigError } from '../../config.ts';
import type { AnchorSettings } from '../../anchor-settings.ts';
import type { Anchor } from '../../audit/anchor/anchor.ts';
import { Authorized } from '../../audit/anchor/authorization.ts';
import { bucketAnchor } from '../../audit/anchor/bucket.ts';
import { directoryAnchor } from '../../audit/anchor/directory.ts';
import { timestampAnchor } from '../../audit/anchor/timestamp.ts';
import { witnessAnchor } from '../../audit/anchor/witness.ts';
import { readWitnessKey } from '../../audit/checkpoint/cosignature.ts';
import { isCertificate, NO_CERTIFICATE } from '../../pem.ts';
import { readNamed } from '../named-files.ts';

/** Throws where a file cannot be read, or the witness's key is none. */
export async function openAnchors({ timestamp, directory, bucket, witness }: AnchorSettings): Promise<Anchor[]> {
  const anchors: Anchor[] = [];
  if (timestamp !== null) {
    const { url, rootsFile, authorization } = timestamp;
    const roots = rootsFile === null ? null : await readNamed('ANCHOR_TIMESTAMP_CA_FILE', rootsFile);
    if (roots !== null && !isCertificate(roots)) throw new ConfigError([`ANCHOR_TIMESTAMP_CA_FILE: ${NO_CERTIFICATE}`]);
    const authorized = new Authorized(authorization, () => performance.now());
    anchors.push(timestampAnchor({ url, roots, ask: (to, init) => authorized.ask(to, init) }));
  }
  if (directory !== null) anchors.push(directoryAnchor(directory));
  if (bucket !== null) {
    const { secretFile, ...rest } = bucket;
    const secret = await readNamed('ANCHOR_S3_SECRET_FILE', secretFile);
    anchors.push(bucketAnchor({ ...rest, secret }));
  }
  if (witness !== null) {
    const key = readWitnessKey(witness.key);
    if (key === null) throw new ConfigError(['ANCHOR_WITNESS_KEY: is no key of cosignatures: its hash does not fit']);
    anchors.push(witnessAnchor({ url: witness.url, key }));
  }
  return anchors;
}
