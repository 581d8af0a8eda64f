/** What a person is told of an error of S3: one sentence with its code, its message and what to do, never its XML. */
import { expect, test } from 'vitest';
import { s3Fault } from '../../src/audit/anchor/s3-fault.ts';

const xml = (code: string, message: string) =>
  Buffer.from(
    `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message><RequestId>4442587FB7D0A2F9</RequestId></Error>`,
  );

test.each([
  [
    403,
    xml('AccessDenied', 'Access Denied.'),
    '403 AccessDenied (Access Denied): give the key of ANCHOR_S3_KEY_ID its rights on the bucket',
  ],
  [
    403,
    xml('SignatureDoesNotMatch', 'It isn&apos;t &quot;the&quot; signature,\n check your key &amp; secret'),
    `403 SignatureDoesNotMatch (It isn't "the" signature, check your key & secret): put the secret of ANCHOR_S3_KEY_ID into ANCHOR_S3_SECRET_FILE`,
  ],
  [301, xml('PermanentRedirect', ''), "301 PermanentRedirect: set ANCHOR_S3_REGION and the URL to the bucket's region"],
  [418, xml('Teapot', 'short and stout'), '418 Teapot (short and stout): ask whoever runs the bucket'],
  [503, Buffer.from('<html>busy</html>'), '503: it is no answer of S3, so look where the URL leads'],
  [502, Buffer.from(''), '502: it is no answer of S3, so look where the URL leads'],
])('%s is one sentence', (status, body, reported) => {
  expect(s3Fault(status, body, 'ANCHOR_S3')).toBe(reported);
});

test('a long message is cut, and what it repeats is no line of its own', () => {
  const reported = s3Fault(403, xml('AccessDenied', 'x'.repeat(5_000)), 'ARCHIVE_S3');
  expect(reported.length).toBeLessThan(300);
  expect(reported).toContain('ARCHIVE_S3_KEY_ID');
});
