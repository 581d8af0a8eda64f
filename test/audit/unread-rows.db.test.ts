/** A row that lies under a seal and that the sealer's index does not know: nobody who looks rows up by that index sees it. */
import { expect, test } from 'vitest';
import { sealAll } from '../../src/audit/seals/sealer.ts';
import { verifySeals } from '../../src/audit/seals/verify.ts';
import { createTestDatabase, openPool } from '../support/database.ts';
import { untilSettled } from '../support/settled.ts';

const { sql, pool, url } = await createTestDatabase();
/** As the planner does where tables are large. */
const byIndex = openPool(url, { max: 2, settings: { enable_seqscan: 'off', enable_indexscan: 'off' } });
const verify = async () => (await verifySeals(byIndex)).findings;

async function seal(): Promise<void> {
  await untilSettled(sql);
  await sealAll(pool);
}

test('is told by the count of its table, whatever way it was written', async () => {
  const read = (epoch: number, tx = '') =>
    sql.unsafe(
      `insert into cpf_reads (actor, operation, asked, epoch${tx && ', tx'}) values ('ana', 'GET /', '/', ${epoch}${tx})`,
    );
  const [{ epoch }] = await sql<[{ epoch: number }]>`select current_epoch() as epoch`;
  await read(epoch);
  await seal();
  // As after a promotion: what follows is of a later epoch, and a statement of its own reads it.
  await sql`update installation set epoch_base = epoch_base + 1, own_from = own_from + 1`;
  await sql`
    insert into archive_acts (act, month, first_seal, last_seal, place, manifest, deliveries, rows, actor, epoch)
    values ('arquivamento', '2026-01', 1, 1, '/nowhere', sha256('x'), sha256('x'), 1, 'ana', ${epoch + 1})`;
  await seal();
  expect(await verify()).toEqual([]);
  await sql`select brin_summarize_new_values('cpf_reads_sealable')`;
  const asleep = (ready: boolean) =>
    sql`update pg_index set indisready = ${ready} where indexrelid = 'cpf_reads_sealable'::regclass`;
  await asleep(false);
  await read(epoch + 1, ', (select tx from archive_acts)');
  await asleep(true);
  expect(await verify()).toEqual([
    expect.objectContaining({
      tipo: 'linha_fora_dos_selos',
      tabela: 'cpf_reads',
      detalhe: expect.stringContaining(
        'has 2 rows that seals should cover, and cpf_reads_sealable leads to 1',
      ) as string,
    }),
  ]);
  await sql`reindex index cpf_reads_sealable`;
  expect(await verify()).toContainEqual(expect.objectContaining({ tipo: 'linha_acrescentada', tabela: 'cpf_reads' }));
});
