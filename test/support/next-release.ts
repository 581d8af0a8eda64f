/** This release's files with one event more, one optional key more, and a key that may be null. */
import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

const HERE = resolve(import.meta.dirname, '../..');

/** What it changes: a file, what stands there, and what it puts in its place. */
const CHANGES = [
  [
    'contract/payloads.ts',
    /(disbursementFailed = payload\(\{[^}]*motivo: z\.string\(\))([^}]*)\}\)/,
    "$1.nullable()$2  canal: z.enum(['web', 'app']).optional(),\n})",
  ],
  ['contract/field-meanings.ts', /  motivo: meaning/, "  canal: meaning('O canal', 'The channel'),\n$&"],
  [
    'contract/events.ts',
    /  'trabalhador\.desligado': emitted/,
    `  'desembolso.estornado': emitted('guaranteed', payload.documentsReceived, {
    pt: { summary: 'A transferência voltou' },
    en: { summary: 'The transfer came back' },
  }),\n$&`,
  ],
  ['contract/event-examples.ts', /  'trabalhador\.desligado': \{/, "  'desembolso.estornado': numbered,\n$&"],
  [
    'loan/rules.ts',
    /  'trabalhador\.desligado': \{/,
    "  'desembolso.estornado': { fits: () => true, apply: (state) => state },\n$&",
  ],
] as const;

/** Makes it in `folder`, with what runs it and what makes its client's types. */
export async function makeNextRelease(folder: string): Promise<void> {
  for (const name of [
    'src',
    'drizzle',
    'package.json',
    'test/http/make-client-types.ts',
    'test/support/bare-app.ts',
    'test/support/silent-log.ts',
  ])
    await cp(join(HERE, name), join(folder, name), { recursive: true });
  await symlink(join(HERE, 'node_modules'), join(folder, 'node_modules'));
  for (const [name, old, changed] of CHANGES) {
    const file = join(folder, 'src', name);
    const text = await readFile(file, 'utf8');
    if (!old.test(text)) throw new Error(`${name} has no ${String(old)}`);
    await writeFile(file, text.replace(old, changed));
  }
}
