/** Whether the verifier's table names are the product's own tables: a view, a rule or a row policy could show it other rows. */
import type { Installation } from '../../db/installation.ts';
import { compareSchema } from '../../db/migrations/compare-schema.ts';
import type { Pool, Tx } from '../../db/pool.ts';
import { ofSeal, type VerifyFinding } from './compare-rows.ts';

/** The tables that verify and the balance read, each with the auditors' view that must be a view of the same table. */
const TABLES: Readonly<Record<string, string | null>> = {
  events: 'eventos',
  attempts: 'tentativas',
  targets: 'tentativas',
  webhook_history: 'historico_webhooks',
  partner_history: 'historico_parceiros',
  send_orders: 'pedidos_envio',
  erasure_orders: 'apagamentos',
  erasure_pages: 'apagamentos_eventos',
  cpf_reads: 'leituras_cpf',
  archive_acts: 'arquivos',
  system_history: 'historico_sistema',
  deliveries: 'entregas',
  webhooks: 'webhooks',
  partners: 'parceiros',
  seals: 'selos',
  seal_trees: null,
  seal_nodes: null,
  checkpoints: null,
};

/** Objects that stand in the place of a table, or change what is read and written there. */
export async function findUnexpectedTables(sql: Tx): Promise<VerifyFinding[]> {
  const tables = await sql<{ name: string; faults: string[] }[]>`
    select name, pg_catalog.array_remove(array[
      case when c.relkind is distinct from 'r' then 'it is no table' end,
      case when c.relrowsecurity then 'a policy chooses which rows are seen' end,
      case when exists (select from pg_rewrite where ev_class = c.oid) then 'a rule changes its statements' end,
      case when exists (select from pg_inherits where inhparent = c.oid) then 'the rows of another table are read with it' end,
      case when exists (select from pg_trigger where tgrelid = c.oid and tgenabled <> 'O') then 'one of its triggers is off' end,
      case when not exists (
        select from pg_depend d join pg_rewrite r on r.oid = d.objid join pg_class v on v.oid = r.ev_class
        join pg_namespace views on views.oid = v.relnamespace
        where d.classid = 'pg_rewrite'::regclass and d.refobjid = c.oid
          and v.relname = view and views.nspname = n.nspname || '_auditoria'
      ) and view is not null then 'the auditors'' view ' || view || ' reads another table' end
    ], null) as faults
    from unnest(${Object.keys(TABLES)}::text[], ${Object.values(TABLES)}::text[]) named (name, view)
    left join pg_class c on c.oid = to_regclass(name)
    left join pg_namespace n on n.oid = c.relnamespace`;
  return tables
    .filter(({ faults }) => faults.length > 0)
    .map(({ name, faults }) => ofSeal('tabela_trocada', null, faults.join('; '), name));
}

/** Tables, views, functions, triggers and rights that are not as this release makes them, and what could not be compared. */
export async function findUnexpectedDefinitions(pool: Pool, installation: Installation) {
  const { differences, uncompared } = await compareSchema(pool, installation);
  const findings = differences.map(({ name, detail }) => ofSeal('definicao_alterada', null, detail, name));
  return { findings, uncompared };
}
