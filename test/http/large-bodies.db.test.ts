/** Large bodies over real sockets: what has no turn is not read, and nothing else waits for it. */
import { request } from 'node:http';
import { expect, test } from 'vitest';
import { packageOf } from '../support/document-pieces.ts';
import { EXTERNAL_GROUPED, startPartnerWorld, type TestPartner } from '../support/partner-world.ts';
import { serve } from '../support/serve.ts';

const LARGE_BYTES = 1024 * 1024;
const world = await startPartnerWorld({ turnWaitMs: 50 });
const server = await serve(world.api.app.fetch);

/** Begins to send a package for `loanId`, blanks in front of it; `finish` sends the rest. */
function beginUpload(
  partner: TestPartner,
  loanId: string,
  bytes: number,
  headers: Record<string, string> = {},
  to = server,
) {
  const body = Buffer.from(JSON.stringify(packageOf()).padStart(bytes));
  const { promise: answered, resolve, reject } = Promise.withResolvers<number>();
  const sent = request(
    `${to.url}/v1/emprestimos/${loanId}/documentos`,
    {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${partner.token}`,
        'Content-Type': 'application/json',
        'Content-Length': body.length,
        ...headers,
      },
    },
    (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    },
  );
  sent.on('error', reject);
  sent.write(body.subarray(0, bytes / 2));
  const finish = () => {
    sent.end(body.subarray(bytes / 2));
    return answered;
  };
  return { answered, finish };
}

test('a third large body of a partner is told to come again while two are unfinished; nothing else waits', async () => {
  const [slow, other] = [await world.partner(EXTERNAL_GROUPED), await world.partner(EXTERNAL_GROUPED)];
  const loans = [await slow.newLoan(), await slow.newLoan(), await slow.newLoan()];
  const uploads = loans.map((loan) => beginUpload(slow, loan, LARGE_BYTES));
  expect(await Promise.race(uploads.map(({ answered }) => answered))).toBe(503);

  const loan = await slow.newLoan();
  expect(await beginUpload(slow, loan, LARGE_BYTES, { 'Content-Type': 'text/plain' }).answered).toBe(415);
  expect(await beginUpload(slow, loan, LARGE_BYTES, { 'Content-Length': '99999999' }).answered).toBe(413);
  expect(await beginUpload(other, await other.newLoan(), LARGE_BYTES).finish()).toBe(200);
  expect(await beginUpload(slow, loan, 8 * 1024).finish()).toBe(200);

  const finished = await Promise.all(uploads.map(({ finish }) => finish()));
  expect(finished.toSorted((one, other) => one - other)).toEqual([200, 200, 503]);
});

test('two large bodies that stall give their turns back, and their partner’s next one is served', async () => {
  const pacing = await startPartnerWorld({
    turnWaitMs: 10_000,
    largeBodyPace: { graceMs: 1_000, bytesPerS: 64 * 1024 },
  });
  const paced = await serve(pacing.api.app.fetch);
  const partner = await pacing.partner(EXTERNAL_GROUPED);
  const begin = async () => beginUpload(partner, await partner.newLoan(), 100 * 1024, {}, paced);
  const stalled = [await begin(), await begin()];
  const next = await begin();
  expect(await next.finish()).toBe(200);
  expect(await Promise.all(stalled.map(({ answered }) => answered))).toEqual([400, 400]);
  for (const { finish } of stalled) await finish();
});
