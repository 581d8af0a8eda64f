/** The checks against receivers with one planted bug each, and against receivers that have none. */
import { expect, test } from 'vitest';
import { CHECK_CODES } from '../../src/conformance/checks.ts';
import { detailOf } from '../../src/conformance/report.ts';
import { checksOf, failed, SECRET } from '../support/conformance.ts';
import { BUGS, startFaultyReceiver } from '../support/faulty-receiver.ts';

const judgedOf = async (...[bug, scheme]: [(typeof BUGS)[string] | null, ('standard' | 'contract')?]) =>
  checksOf(await startFaultyReceiver(SECRET, bug, scheme));

test.concurrent.for(Object.entries(BUGS))('finds a receiver that %s', async ([, bug]) => {
  expect(failed(await judgedOf(bug))).toContain(bug.finds);
});

test('a receiver of Standard Webhooks passes every check', async () => {
  const judged = await judgedOf(null);
  expect(judged.map(({ code, verdict }) => `${code} ${verdict}`)).toEqual(CHECK_CODES.map((code) => `${code} passou`));
});

test('a receiver of the contract alone passes; the time does not apply to it', async () => {
  const judged = await judgedOf(null, 'contract');
  expect(failed(judged)).toEqual([]);
  expect(judged.filter(({ verdict }) => verdict !== 'passou').map(({ code }) => code)).toEqual(['horario_velho']);
});

test('where our own delivery is refused, only what may explain it is sent', async () => {
  const judged = await judgedOf(BUGS['redirects'] ?? null);
  expect(failed(judged)).toEqual(['propria']);
  expect(judged.filter(({ seen }) => seen.length > 0).map(({ code }) => code)).toEqual([
    'propria',
    'outro_segredo',
    'reserializado_node',
    'reserializado_python',
    'reserializado_php',
  ]);
});

test('where nobody answers, nothing more is sent', async () => {
  const judged = await checksOf({ url: 'http://127.0.0.1:1/nobody' });
  expect(judged.filter(({ seen }) => seen.length > 0).map(({ code, verdict }) => [code, verdict])).toEqual([
    ['propria', 'falhou'],
  ]);
});

test('each check tells what was sent, what came and how to mend it', async () => {
  const judged = await judgedOf(BUGS['answers 409 to a duplicate'] ?? null);
  const reported = judged.find(({ code }) => code === 'duplicata');
  expect(reported && detailOf(reported)).toEqual({
    pt: expect.stringMatching(
      /^Enviamos: a mesma entrega, .* duas vezes\. Veio: 204 \(\d+ ms\); 409 \(\d+ ms\)\. Como corrigir: Responda 2xx/,
    ),
    en: expect.stringMatching(
      /^We sent: the same delivery, .* twice\. There came: 204 \(\d+ ms\); 409 \(\d+ ms\)\. How to mend it: Answer 2xx/,
    ),
  });
});
