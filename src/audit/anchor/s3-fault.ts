/** A bucket's error in a sentence for people. On the wire it is XML with a code and a message. */
import { oneLine } from './anchor.ts';

/** By code; `S3` stands for the settings' common beginning. */
const REMEDIES: Readonly<Record<string, string>> = {
  AccessDenied: 'give the key of S3_KEY_ID its rights on the bucket',
  InvalidAccessKeyId: 'set S3_KEY_ID to a key of this service',
  SignatureDoesNotMatch: 'put the secret of S3_KEY_ID into S3_SECRET_FILE',
  NoSuchBucket: 'make the bucket, or correct its name',
  NoSuchKey: 'put the object back from a copy',
  PermanentRedirect: "set S3_REGION and the URL to the bucket's region",
  AuthorizationHeaderMalformed: "set S3_REGION to the bucket's region",
  RequestTimeTooSkewed: "set this machine's clock",
  SlowDown: 'try again later',
};

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** `403 Code (message): what to do`. */
export function s3Fault(status: number, body: Buffer, settings: 'ANCHOR_S3' | 'ARCHIVE_S3'): string {
  const xml = body.toString('utf8');
  const field = (name: string) => {
    const [, behind = ''] = xml.split(`<${name}>`, 2);
    const text = behind.slice(0, Math.max(0, behind.indexOf('<')));
    return oneLine(text.replaceAll(/&(\w+);/g, (entity, name: string) => ENTITIES[name] ?? entity)).replace(/\.$/, '');
  };
  const [code, message] = [field('Code'), field('Message')];
  if (code === '') return `${status}: it is no answer of S3, so look where the URL leads`;
  const remedy = REMEDIES[code] ?? 'ask whoever runs the bucket';
  return `${status} ${code}${message && ` (${message})`}: ${remedy.replaceAll('S3_', `${settings}_`)}`;
}
