import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readContent } from '../../src/core/documents/document-content.ts';
import { JPEG, PDF, PNG, sha256Of } from '../support/document-pieces.ts';

const NOT_BASE64 = { refused: expect.stringContaining('base64 canônico') };
const NOT_A_DOCUMENT = { refused: 'deve ser um PDF, um JPEG ou um PNG' };
const TOO_LARGE = { refused: 'tem no máximo 8 MiB depois de decodificado' };
const MAX_BYTES = 8 * 1024 * 1024;

const read = (bytes: Buffer) => readContent(bytes.toString('base64'));

describe('the type of a piece is told from its first bytes', () => {
  test.each([
    ['application/pdf', PDF],
    ['image/jpeg', JPEG],
    ['image/png', PNG],
    ['image/jpeg', Buffer.from('ffd8ffdb0043', 'hex')],
    ['application/pdf', Buffer.from('%PDF-2.0')],
  ])('%s', (mediaType, bytes) => {
    expect(read(bytes)).toEqual({ bytes, mediaType, sha256: sha256Of(bytes) });
  });

  test.each([
    ['text', Buffer.from('olá, mundo')],
    ['a GIF', Buffer.from('GIF89a')],
    ['a ZIP', Buffer.from('504b0304', 'hex')],
    ['a PDF without a version', Buffer.from('%PDF-')],
    ['a PDF with something before it', Buffer.from(' %PDF-1.7')],
    ['half a PNG signature', PNG.subarray(0, 4)],
    ['a PNG that went through a text transfer', Buffer.from('89504e470a1a0a000000', 'hex')],
    ['a JPEG cut after its start', JPEG.subarray(0, 3)],
    ['a JPEG that ends where a segment should open', Buffer.from('ffd8ffd9', 'hex')],
    ['a JPEG of fill bytes', Buffer.from('ffd8ffff', 'hex')],
  ])('and %s is refused', (_name, bytes) => {
    expect(read(bytes)).toEqual(NOT_A_DOCUMENT);
  });
});

describe('base64 is taken in its canonical form alone', () => {
  const good = PDF.subarray(0, 10).toString('base64');

  test.each([
    ['no padding', good.replaceAll('=', '')],
    ['padding too long', `${good}====`],
    ['padding inside', `QQ==${good}`],
    ['a line break', `${good.slice(0, 4)}\r\n${good.slice(4)}`],
    ['a space at the end', `${good.slice(0, -1)} `],
    ['the URL alphabet', 'JVBERi0xLjc-_w=='],
    ['a data URL', `data:application/pdf;base64,${good}`],
    ['unused bits that are set', `${good.slice(0, -3)}h==`],
    ['letters beyond ASCII', `${good.slice(0, 4)}éééé${good.slice(8)}`],
    ['padding alone', '===='],
    ['three paddings', 'A==='],
  ])('not with %s', (_name, text) => {
    expect(readContent(text)).toEqual(NOT_BASE64);
  });

  test('an empty piece is refused as empty', () => {
    expect(readContent('')).toEqual({ refused: 'não pode ser vazio' });
  });

  test('whatever is accepted decodes to bytes that are written back as the same text', () => {
    const tail = fc.string({
      unit: fc.constantFrom('A', 'B', 'w', '0', '9', '+', '/', '=', '-', '_', ' ', '\n'),
      maxLength: 9,
    });
    let accepted = 0;
    fc.assert(
      fc.property(tail, (text) => {
        const sent = `JVBERi0xLjcK${text}`;
        const content = readContent(sent);
        const canonical = Buffer.from(sent, 'base64').toString('base64') === sent;
        expect('bytes' in content).toBe(canonical);
        if ('bytes' in content) accepted += 1;
      }),
      { numRuns: 3_000 },
    );
    expect(accepted).toBeGreaterThan(20);
  });
});

describe('a piece has at most 8 MiB', () => {
  const sized = (bytes: number) => {
    const content = Buffer.alloc(bytes);
    PDF.copy(content);
    return read(content);
  };

  test('exactly 8 MiB is taken', () => {
    expect(sized(MAX_BYTES)).toMatchObject({ mediaType: 'application/pdf', bytes: { length: MAX_BYTES } });
  });

  test.each([MAX_BYTES + 1, MAX_BYTES + 2, MAX_BYTES + 1_000])('%i bytes are refused', (bytes) => {
    expect(sized(bytes)).toEqual(TOO_LARGE);
  });
});
