import { describe, expect, test } from 'vitest';
import { readableAnswer } from '../../../src/delivery/partner/answer-text.ts';

const read = (text: string) => readableAnswer(Buffer.from(text));

describe('an answer as a person may read it', () => {
  test.each(['529.982.247-25', '52998224725', '529 982 247 25', '529.982.247/25', '529-982-247-25', '0052998224725'])(
    'masks %s',
    (cpf) => expect(read(`cpf ${cpf}, obrigado`)).toBe('cpf ***********, obrigado'),
  );

  test('masks every one, also inside of JSON and right behind a letter', () => {
    expect(read('{"a":52998224725,"b":"x529.982.247-25y"}')).toBe('{"a":***********,"b":"x***********y"}');
  });

  test('leaves ids, dates, amounts and short numbers alone', () => {
    const text = 'pedido 1234567890 em 2026-01-31T12:00:00.123Z, R$ 1.234,50, 019c1f2a-7b3c-7d4e-8f5a-6b7c8d9e0f1a';
    expect(read(text)).toBe(text);
  });

  test('masks what the cut after 1 KiB may have left of one', () => {
    const cut = `${'x'.repeat(1_015)} 529.982.2`;
    expect([cut.length, read(cut)?.slice(1_015)]).toEqual([1_025, ' ***********']);
    expect(read('pedido 529')).toBe('pedido 529');
  });

  test('shows bytes that are no text as replacement signs, and nothing as nothing', () => {
    expect(readableAnswer(Buffer.from([0x6f, 0xff]))).toBe('o�');
    expect(readableAnswer(null)).toBe(null);
  });
});
