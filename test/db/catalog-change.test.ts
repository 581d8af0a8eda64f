/** What a release may change of the event catalog: it adds, and takes nothing away. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { lossesOf } from '../../src/contract/catalog-change.ts';
import { type CatalogEntry, entryOf, eventCatalog } from '../../src/contract/event-catalog.ts';
import { pauseAfter } from '../../src/db/migrations/migrate.ts';

const FIELDS = {
  id: z.guid(),
  nome: z.string().meta({ minLength: 1, maxLength: 60 }),
  tipo: z.enum(['a', 'b']),
  canal: z.string().optional(),
  quem: z.strictObject({ cnpj: z.string() }),
  valor: z.number().nullable(),
};
const entry = (shape: z.ZodRawShape, kind: CatalogEntry['kind'] = 'emitted'): CatalogEntry =>
  entryOf('x.y', kind, ['backoffice'], z.strictObject(shape));
const { nome: _nome, ...withoutName } = FIELDS;
const { id, ...withoutId } = FIELDS;

test('the catalog as it is loses nothing of itself', () => {
  expect(lossesOf(eventCatalog(), eventCatalog())).toEqual([]);
});

test.each([
  ['an optional key, wherever', { id, novo: z.string().optional(), ...withoutId }],
  ['an optional object with required keys', { ...FIELDS, novo: z.strictObject({ a: z.string() }).optional() }],
  ['null', { ...FIELDS, id: z.guid().nullable() }],
  ['a value of a list', { ...FIELDS, tipo: z.enum(['b', 'c', 'a']) }],
  ['room', { ...FIELDS, nome: z.string().meta({ minLength: 1, maxLength: 200 }) }],
  ['what any text may be', { ...FIELDS, id: z.string() }],
  ['absence', { ...FIELDS, id: z.guid().optional() }],
])('a release may add %s', (_, shape) => {
  expect(lossesOf([entry(FIELDS)], [entry(shape)])).toEqual([]);
});

test.each([
  ['the event', null, 'the event x.y is gone'],
  ['a key', withoutName, 'x.y: the key "nome" is gone'],
  ['an optional key', { ...FIELDS, canal: z.never() }, 'x.y: the key "canal" is required'],
  ['absence', { ...FIELDS, canal: z.string() }, 'x.y: the key "canal" is required'],
  ['a payload without a new key', { ...FIELDS, novo: z.string() }, 'x.y: the key "novo" is required'],
  ['a key of an object', { ...FIELDS, quem: z.strictObject({}) }, 'x.y: the key "quem.cnpj" is gone'],
  ['null', { ...FIELDS, valor: z.number() }, 'x.y: "valor" may no longer be null'],
  ['a value of a list', { ...FIELDS, tipo: z.enum(['a']) }, 'x.y: "tipo" is of the form ^(a)$, no longer ^(a|b)$'],
  ['room', { ...FIELDS, nome: z.string().meta({ minLength: 1, maxLength: 59 }) }, '"nome" is of the form'],
  [
    'the freedom of a text',
    { ...FIELDS, canal: z.guid().optional() },
    '"canal" is of the form uuid, no longer any text',
  ],
  ['the order', { ...withoutId, id }, 'x.y: the key "id" has another place'],
])('a release may not take away %s', (_, shape, loss) => {
  const losses = lossesOf([entry(FIELDS)], shape === null ? [] : [entry(shape)]);
  expect(losses.join('; ')).toContain(loss);
});

test('an event does not change its kind, and a reserved name may become an event', () => {
  expect(lossesOf([entry(FIELDS)], [entry(FIELDS, 'internal')])).toEqual(['x.y is internal, no longer emitted']);
  expect(lossesOf([entryOf('x.y', 'reserved', [], null)], [entry(FIELDS)])).toEqual([]);
});

test('a migration that finds its lock taken leaves writers alone for 15 s, then twice as long each time, up to 10 minutes', () => {
  expect([1, 2, 3, 4, 5, 6, 7, 20].map((busy) => pauseAfter(busy) / 1000)).toEqual([
    15, 30, 60, 120, 240, 480, 600, 600,
  ]);
});
