/** What is in memory of a month is bounded, however large its rows are. */
import { expect, test } from 'vitest';
import { readManifest } from '../../src/archive/manifest.ts';
import { openPlace } from '../../src/archive/place.ts';
import { readTable } from '../../src/archive/verify-month.ts';
import { archiveMonth } from '../../src/archive/write-month.ts';
import { sealAll } from '../../src/audit/seals/sealer.ts';
import { backdateSeals } from '../support/backdated-seals.ts';
import { createTestDatabase } from '../support/database.ts';
import { insertPartner } from '../support/outbox.ts';
import { untilSettled } from '../support/settled.ts';
import { makeTestFolder } from '../support/test-folder.ts';

const MONTH = '2026-01';
/** The first seal is a part of its own; two of 34 MiB each follow, where a part has 64 MiB at most and a group of a file 16. */
const EVENTS = [1, 600, 600];

test('a part ends before its rows are too large, and a group of a file too', async () => {
  const { pool, sql } = await createTestDatabase();
  const partnerId = await insertPartner(sql);
  for (const count of EVENTS) {
    await sql`
      select append_event(stream, 0, 'desembolso.falhou', ${partnerId},
               json_build_object('emprestimo_id', stream, 'numero_emprestimo', '2026-00000001', 'motivo', repeat('x', 60000)), 'test')
      from (select gen_random_uuid() as stream from generate_series(1, ${count}::int)) streams`;
    await untilSettled(sql);
    await sealAll(pool);
  }
  await backdateSeals(pool, new Date('2026-01-20T12:00:00Z'));
  const place = openPlace((await makeTestFolder()).path, null);
  const open = { pool, place, openPlace: () => place, month: MONTH, signers: [], actor: 'test' };
  const { partes } = await readManifest(place, await archiveMonth(open));
  const events = partes.flatMap(({ arquivos }) => arquivos.filter(({ tabela }) => tabela === 'events'));
  expect(events.reduce((sum, { linhas }) => sum + linhas, 0)).toBe(1_201);
  expect(partes).toHaveLength(3);
  for (const file of events.slice(1)) {
    const groups: number[] = [];
    for await (const { rows } of readTable(place, file)) groups.push(rows.length);
    expect(groups.length).toBeGreaterThan(1);
    expect(Math.max(...groups)).toBeLessThan(300);
  }
});
