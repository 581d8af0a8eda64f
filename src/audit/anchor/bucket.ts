/**
 * An object for each checkpoint in an S3 bucket, never overwritten (`If-None-Match: *`). Object Lock is the bucket's own setting.
 */
import { createHash } from 'node:crypto';
import { AwsClient } from 'aws4fetch';
import { type Anchor, ask } from './anchor.ts';
import { nameOf } from './directory.ts';
import { s3Fault } from './s3-fault.ts';

export interface Bucket {
  /** `https://s3.sa-east-1.amazonaws.com/bucket/prefix`, without a slash at its end. */
  readonly url: string;
  readonly region: string;
  readonly keyId: string;
  readonly secret: string;
}

/** A bucket with a retention asks for the object's checksum, some servers by its algorithm's name. */
export function checksumOf(object: Buffer | string): Readonly<Record<string, string>> {
  const sum = createHash('sha256').update(object).digest('base64');
  return { 'x-amz-sdk-checksum-algorithm': 'SHA256', 'x-amz-checksum-sha256': sum };
}

export function bucketAnchor({ url, region, keyId, secret }: Bucket): Anchor {
  const client = new AwsClient({ accessKeyId: keyId, secretAccessKey: secret, service: 's3', region, retries: 0 });
  const send = (to: string, init: RequestInit) => client.fetch(to, init);
  return {
    kind: 'bucket',
    place: url,
    async put({ note }) {
      const object = `${url}/${nameOf(note)}`;
      const headers = {
        'Content-Type': 'text/plain; charset=utf-8',
        'If-None-Match': '*',
        ...checksumOf(note),
      };
      const answer = await ask(object, { method: 'PUT', headers, body: note }, send);
      if (answer.status === 412) {
        const kept = await ask(object, { method: 'GET' }, send);
        if (kept.status === 200 && kept.body.toString() === note) return receipt(object, kept.headers);
        throw new Error(`${object} is there with another content`);
      }
      if (answer.status !== 200) throw new Error(`it answers ${s3Fault(answer.status, answer.body, 'ANCHOR_S3')}`);
      return receipt(object, answer.headers);
    },
  };
}

function receipt(object: string, headers: Headers): Buffer {
  const version = headers.get('x-amz-version-id');
  return Buffer.from(version === null ? object : `${object}?versionId=${version}`);
}
