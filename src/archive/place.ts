/** A place of archives: a directory, or a prefix of an S3 bucket. A file there is written once, whole or not at all. */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { AwsClient } from 'aws4fetch';
import { withoutSlash } from '../settings/environment-rules.ts';
import { type Bucket, checksumOf } from '../audit/anchor/bucket.ts';
import { syncDirectory } from '../audit/anchor/directory.ts';
import { s3Fault } from '../audit/anchor/s3-fault.ts';
import { readBounded } from '../bounded-answer.ts';
import { ArchiveFault } from './archive-fault.ts';

export interface Place {
  /** Where it is, without a secret: an absolute path, or `s3://bucket/prefix`. */
  readonly name: string;
  write(file: string, bytes: Buffer): Promise<void>;
  /** All its bytes. Throws if it has more than `most`. */
  read(file: string, most: number): Promise<Buffer>;
  remove(file: string): Promise<void>;
}

export interface S3Access extends Omit<Bucket, 'url'> {
  /** `https://s3.sa-east-1.amazonaws.com`, without a slash at its end. */
  readonly endpoint: string;
}

/** Throws {@link ArchiveFault} where `name` is neither an absolute path nor `s3://bucket/prefix`, or there is no key for S3. */
export function openPlace(name: string, access: S3Access | null): Place {
  const [, bucket, host] = /^s3:\/\/(([a-z0-9.-]{3,63})(?:\/[A-Za-z0-9!_.*'()/-]*)?)$/.exec(name) ?? [];
  if (bucket === undefined || /^[.-]|[.-]$/.test(host ?? '')) {
    if (name.startsWith('s3:')) throw new ArchiveFault(`${name} is no place: give s3://bucket/prefix`);
    return directoryPlace(path.resolve(name));
  }
  if (access === null) throw new ArchiveFault(`${name} needs ARCHIVE_S3_KEY_ID and ARCHIVE_S3_SECRET_FILE`);
  return bucketPlace(withoutSlash(name), withoutSlash(bucket), access);
}

const WORDS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full: make room, and run it again',
  EDQUOT: 'the quota is used up: have it raised, and run it again',
  ENOENT: 'it is not there',
  ENOTDIR: 'a part of the path is no directory',
  EACCES: 'the login may not',
  EPERM: 'the login may not',
  EROFS: 'it can only be read',
};

function directoryPlace(root: string): Place {
  const withReason = async <T>(what: string, file: string, work: (full: string) => Promise<T>): Promise<T> => {
    const full = path.join(root, file);
    try {
      return await work(full);
    } catch (cause) {
      const { code = '', message } = cause as NodeJS.ErrnoException;
      throw new ArchiveFault(`${full} cannot be ${what}: ${WORDS[code] ?? message}`);
    }
  };
  return {
    name: root,
    write: (file, bytes) =>
      withReason('written', file, async (full) => {
        await mkdir(path.dirname(full), { recursive: true });
        const part = `${full}.${randomUUID()}.part`;
        try {
          {
            await using handle = await open(part, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o640);
            await handle.writeFile(bytes);
            await handle.sync();
          }
          await rename(part, full);
        } catch (error) {
          await rm(part, { force: true });
          throw error;
        }
        await syncDirectory(path.dirname(full));
      }),
    read: (file, most) =>
      withReason('read', file, async (full) => {
        // A pipe would be waited for without end, and a device read without end.
        await using handle = await open(full, constants.O_RDONLY | constants.O_NONBLOCK);
        const found = await handle.stat();
        if (!found.isFile()) throw new Error('it is no file');
        const { size } = found;
        if (size > most) throw new Error(`it has ${size} bytes, more than ${most}`);
        return handle.readFile();
      }),
    remove: (file) => withReason('removed', file, (full) => rm(full, { force: true })),
  };
}

const ANSWER_MS = 120_000;
/** Of an error, and of what has no body. */
const MAX_ANSWER = 64 * 1_024;

function bucketPlace(name: string, bucket: string, { endpoint, region, keyId, secret }: S3Access): Place {
  const client = new AwsClient({ accessKeyId: keyId, secretAccessKey: secret, service: 's3', region, retries: 2 });
  const ask = async (what: string, file: string, init: RequestInit, most = MAX_ANSWER): Promise<Buffer> => {
    const object = `${name}/${file}`;
    const signal = AbortSignal.timeout(ANSWER_MS);
    const failed = (why: string, cause?: unknown) => new ArchiveFault(`${object} cannot be ${what}: ${why}`, { cause });
    try {
      const answer = await client.fetch(`${endpoint}/${bucket}/${file}`, { ...init, redirect: 'manual', signal });
      const body = await readBounded(answer, most);
      if (![200, 204].includes(answer.status)) throw failed(`S3 answers ${s3Fault(answer.status, body, 'ARCHIVE_S3')}`);
      return body;
    } catch (error) {
      if (error instanceof ArchiveFault) throw error;
      const { message, cause } = error as Error;
      throw failed(`${endpoint} does not answer: ${cause instanceof Error ? cause.message : message}`, error);
    }
  };
  return {
    name,
    async write(file, bytes) {
      await ask('written', file, { method: 'PUT', body: bytes, headers: checksumOf(bytes) });
    },
    read: (file, most) => ask('read', file, {}, Math.max(most, MAX_ANSWER)),
    async remove(file) {
      await ask('removed', file, { method: 'DELETE' });
    },
  };
}
