/** One mask for HTTP and SQL: what it hides, what it leaves, and that both hide the same. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { masked } from '../../src/contract/masking/masking.ts';
import { createTestDatabase } from '../support/database.ts';

const database = await createTestDatabase();

async function maskedInSql(texts: readonly string[]): Promise<string[]> {
  const rows = await database.sql<{ text: string }[]>`
    select mask(given) as text from unnest(${texts as string[]}::text[]) with ordinality as t (given, n) order by n`;
  return rows.map(({ text }) => text);
}

const DASHES = Array.from('-‐‑‒–—―⁃−﹘﹣－⸺⸻');
const FULL_WIDTH = Array.from('52998224725')
  .map((digit) => String.fromCodePoint(Number(digit) + 0xff10))
  .join('');

/** The CPF in the digits of another script. */
function digitsFrom(zero: string): string {
  return Array.from('52998224725', (digit) => String.fromCodePoint((zero.codePointAt(0) ?? 0) + Number(digit))).join(
    '',
  );
}

const HIDDEN = [
  ...DASHES.map((dash) => `529.982.247${dash}25`),
  ...DASHES.map((dash) => `529${dash}982${dash}247${dash}25`),
  FULL_WIDTH,
  FULL_WIDTH.replace(/^(...)(...)(...)/u, '$1.$2．$3－'),
  Array.from('52998224725').join(' '),
  Array.from('52998224725').join(' '),
  Array.from('52998224725').join('​'),
  Array.from('52998224725').join('-'),
  '52 99 82 24 72 5',
  '529,982,247-25',
  '529，982，247，25',
  '529 . 982 . 247 - 25',
  '529 982 247 – 25',
  '529_982_247_25',
  '529/982/247/25',
  '529\n982\n247\n25',
  '529.982.247%2D25',
  '529%20982%20247%2025',
  '529.982.247%E2%80%9125',
  '%35%32%39%39%38%32%32%34%37%32%35',
  String.raw`529.982.247\u201125`,
  '52998224725',
  '0052998224725',
  ...Array.from('*|:;=~^!$', (sign) => `529${sign}982${sign}247${sign}25`),
  '(529)(982)(247)(25)',
  '[529] [982] [247] - [25]',
  '529·982·247‒25',
  String.raw`529\982\247\25`,
  ...['\u0660', '\u06f0', '\u0966', '\u{1d7ce}', '\u{1d7d8}', '\u2080'].map(digitsFrom),
  '⑤②⑨⑨⑧②②④⑦②⑤',
  '5️⃣2️⃣9️⃣9️⃣8️⃣2️⃣2️⃣4️⃣7️⃣2️⃣5️⃣',
  String.raw`\u0665\u0662\u0669\u0669\u0668\u0662\u0662\u0664\u0667\u0662\u0665`,
  String.raw`\u0035\u0032\u0039\u0039\u0038\u0032\u0032\u0034\u0037\u0032\u0035`,
  'https://partner.example/?token=abc',
  'https://partner.example/it\'s?a=1&b="',
  String.raw`https:\/\/partner.example\/x?token=abc`,
];

const LEFT = [
  'pedido 1234567890 em 2026-01-31T12:00:00.123Z, R$ 1.234,50',
  '019c1f2a-7b3c-7d4e-8f5a-123456789012',
  '12345678-1234-7123-8123-123456789012',
  '{"numero_emprestimo":"2026-00000001","valor_parcela":1234.56,"numero_parcelas":96,"competencia":"2026-11"}',
  'https://203.0.113.10:8443/hooks/2026/11/23/a',
  'connect ECONNREFUSED 10.0.0.1:443',
  'por quê?token=x',
];

const NAMES = [
  '{"nome_trabalhador":"João d\u0027Ávila","numero":1}',
  '{"nome_trabalhador" : "Ana Souza"}',
  String.raw`{"corpo":"{\"nome_trabalhador\":\"Ana Souza\",\"a\":1}"}`,
  String.raw`{"a":"{\"b\":\"{\\\"nome_trabalhador\\\":\\\"Ana Souza\\\"}\"}"}`,
  'nome_trabalhador=Ana%20Souza&a=1',
  'nome_trabalhador: Ana Souza',
  '{"nome_trabalhador":"Souza, Ana & Filhos"}',
  String.raw`{"nome_trabalhador":"Jo\u00e3o \"Ana\" Souza"}`,
  String.raw`{"corpo":"{\"nome\":\"Jo\\u00e3o \\\"Ana\\\" Souza\"}"}`,
  'nome=Souza, Ana & Filhos',
  'trabalhador[nome]=Ana+Souza&x=1',
  'nome%3DAna%20Souza%26x%3D1',
  '%7B%22nome%22%3A%22Ana%20Souza%22%7D',
  '{"nomeTrabalhador":"Ana"}',
  '{"NOME_TRABALHADOR":"Ana","x":1}',
  '{"nome_trabalhador":["Ana"]}',
  '{"nome":["Ana","Souza"],"x":1}',
  '{"nome":[["Ana"],["Souza"]],"x":1}',
  '{"sobrenome":{"ultimo":"Souza"}}',
  "{'nome': 'Ana Souza'}",
  ":nome=>'Ana', :x=>1",
  '[nome] => Ana Souza\n[x] => 1',
  '<nome>Ana</nome><x>1</x>',
  '{&quot;nome&quot;:&quot;Ana&quot;,&quot;x&quot;:1}',
];

const KEYED = [
  ['{"cpf":1234567890,"x":1}', '{"cpf":***********,"x":1}'],
  [
    '{"cpf_trabalhador":"529982247","id":"019c1f2a-7b3c-7d4e-8f5a-123456789012"}',
    '{"cpf_trabalhador":"***********","id":"019c1f2a-7b3c-7d4e-8f5a-123456789012"}',
  ],
  [
    '{"nome":null,"id":"019c1f2a-7b3c-7d4e-8f5a-123456789012"}',
    '{"nome":null,"id":"019c1f2a-7b3c-7d4e-8f5a-123456789012"}',
  ],
  ['{"campo":"cpf_trabalhador","mensagem":"x"}', '{"campo":"cpf_trabalhador","mensagem":"x"}'],
  ['nome: Ana, emprestimo: 2026-00000001', 'nome: ***********, emprestimo: 2026-00000001'],
  ['{"nome":"Ana","numero":"2026-00000001"}', '{"nome":"***********","numero":"2026-00000001"}'],
  ['00000000-0000-4000-8000-052998224725', '00000000-0000-4000-8000-***********'],
  ['019c1f2a-7b3c-7d4e-8f5a-52998224725f', '019c1f2a-7b3c-7d4e-8f5a-***********f'],
] as const;

describe('the mask', () => {
  test.each(NAMES)('hides the name of the worker in %j', async (text) => {
    const shown = masked(text);
    expect(shown).toContain('***********');
    expect(shown).not.toMatch(/Ana|Souza|João|vila/);
    expect(await maskedInSql([text])).toEqual([shown]);
  });

  test.each(HIDDEN)('hides %j, also between letters', async (secret) => {
    const visible = (text: string) => text.normalize('NFKC').replaceAll(/[^\dt]/g, '');
    for (const text of [secret, `x${secret}y`, `{"a":"${secret}","b":"z"}`]) {
      const shown = masked(text);
      expect(shown).toContain('***********');
      expect(visible(shown)).not.toMatch(/529|998|247|token=|a=1/);
      expect(shown).not.toMatch(/%3[0-9]|[?][^*]/);
      expect(await maskedInSql([text])).toEqual([shown]);
    }
  });

  test.each(KEYED)('makes of %j %j', async (text, shown) => {
    expect(masked(text)).toBe(shown);
    expect(await maskedInSql([text])).toEqual([shown]);
  });

  test.each(LEFT)('leaves %j', async (text) => {
    expect(masked(text)).toBe(text);
    expect(await maskedInSql([text])).toEqual([text]);
  });

  test('hides the same in PostgreSQL, over generated texts', async () => {
    const piece = fc.oneof(
      fc.constantFrom(...HIDDEN, ...LEFT, ...DASHES, ...NAMES, ...KEYED.map(([text]) => text)),
      fc.constantFrom(
        ...Array.from(' .,-/_+%?#:;&="\'<>[]{}()*|\\\u{e000}\u{e001}\t\n'),
        'nome',
        'NOME_x',
        'cpf',
        'null',
        '%22',
        '%3D',
        '%26',
        '%0A',
        '&quot;',
        '\\"',
        '\\\\',
        '\\u',
        'a=',
        ', b:',
        '],[',
        '2026-00000001',
        '\u0665',
        '\u{1d7d3}',
        '²',
        '①',
        '%D9%A5',
        '%D9',
        String.raw`\u0665`,
        String.raw`\u0035`,
        ' ',
        '​',
        '%2D',
        '%3',
        '%35',
        String.raw`\u2011`,
        String.raw`\n`,
      ),
      fc.stringMatching(/^[0-9]{1,12}$/),
      fc.stringMatching(/^[0-9０-９]{1,4}$/),
      fc.uuid(),
      fc.constantFrom('https://a.example/', 'HTTP://', '2026-', 'é', '𝟓', 'x'),
    );
    const texts = fc.array(
      fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join('')),
      { minLength: 200, maxLength: 200 },
    );
    await fc.assert(
      fc.asyncProperty(texts, async (given) => {
        const inSql = await maskedInSql(given);
        expect(given.filter((text, index) => inSql[index] !== masked(text))).toEqual([]);
      }),
      { numRuns: 25, endOnFailure: true },
    );
  });
});
