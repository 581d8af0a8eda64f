/** What an append costs a core in its transaction, by the kind of event and the number of webhooks: the server's time, without round trip and commit. */
import { randomUUID } from 'node:crypto';
import postgres from 'postgres';
import { EVENT_EXAMPLES } from '../../../src/contract/event-examples.ts';
import { EMITTED_NAMES } from '../../../src/contract/events.ts';
import { LOAN_EXAMPLE } from '../../../src/contract/resources/loan-example.ts';
import type { Sql } from '../../../src/db/pool.ts';
import { createDatabase } from '../carteiro.ts';
import { type Bench, type Figure, type Measured, reported } from '../figure.ts';
import { median } from '../harness/statistics.ts';

const DATABASE = 'append_kinds';
/** The first third only warms up. */
const CALLS = 150;
const USUAL = 'desembolso.liquidado';
const FAN_OUTS = [0, 10, 100];
const CONTRACT = {
  emprestimo_id: '00000000-0000-7000-8000-000000000001',
  numero: '0000-00000000',
  cpf_trabalhador: LOAN_EXAMPLE.cpf_trabalhador,
  nome_trabalhador: LOAN_EXAMPLE.nome_trabalhador,
  matricula: LOAN_EXAMPLE.matricula,
  cnpj_empregador: LOAN_EXAMPLE.cnpj_empregador,
  tipo_assinatura: 'internal',
  entrega_documentos: 'agrupada',
  valor_liberado: 5000.5,
  numero_parcelas: 24,
  valor_parcela: 260.1,
  consulta_margem_id: null,
};

/** Of a stream of its own, for a partner of its own: a month is closed once. */
async function appendOne(sql: Sql, type: string, data: object, fanOut: number): Promise<number> {
  const stream = randomUUID();
  const text = JSON.stringify(data).replaceAll(/00000000-0000-7000-8000-00000000000[1-8]/g, stream);
  const [{ partner }] = await sql<
    [{ partner: string }]
  >`insert into partners (name) values ('Parceiro') returning id as partner`;
  await sql`
    insert into webhooks (id, partner_id, url, events, encrypted_secret)
    select uuidv7(), ${partner}, 'https://partner.example/' || n, ${EMITTED_NAMES as string[]}, 'secret' from generate_series(1, ${fanOut}::int) n`;
  const [{ ms }] = await sql<
    [{ ms: number }]
  >`select pg_temp.timed(${stream}, ${type}, ${partner}, ${text}::text::json) as ms`;
  return ms;
}

async function run({ server, progress, isQuick }: Bench): Promise<Measured[]> {
  const url = await createDatabase(server, DATABASE);
  const sql = postgres(url, { max: 1, onnotice: () => undefined, connection: { search_path: 'carteiro' } });
  await sql`
    create function pg_temp.timed(stream uuid, type text, partner uuid, data json) returns float8 language plpgsql as $$
    declare began constant timestamptz := clock_timestamp();
    begin
      perform carteiro.append_event(stream, 0, type, partner, data, 'core-banking');
      return extract(epoch from clock_timestamp() - began) * 1000;
    end $$`;
  const kinds = [
    { type: 'emprestimo.contratado', data: CONTRACT, fanOut: 1 },
    ...EMITTED_NAMES.map((type) => ({ type, data: EVENT_EXAMPLES[type], fanOut: 1 })),
    ...FAN_OUTS.map((fanOut) => ({ type: USUAL, data: EVENT_EXAMPLES[USUAL], fanOut })),
  ].map(({ type, data, fanOut }) => ({ type, data, fanOut, took: [] as number[] }));
  const calls = isQuick ? 30 : CALLS;
  await progress.phase(DATABASE, 300, async () => {
    for (let call = 0; call < calls; call += 1)
      for (const { type, data, fanOut, took } of kinds) {
        const ms = await appendOne(sql, type, data, fanOut);
        if (call >= calls / 3) took.push(ms);
      }
  });
  await sql.end();
  await server.drop(DATABASE);
  return kinds.flatMap(({ type, fanOut, took }) => {
    const label = `${type}, ${fanOut} webhooks`;
    const id = `append_${type}_${fanOut}`;
    return [
      reported(`${id}_median`, `${label}: median`, median(took), 'ms'),
      reported(`${id}_least`, `${label}: least`, Math.min(...took), 'ms'),
    ];
  });
}

export const appendKinds: Figure = {
  id: 'append-kinds',
  about: 'time of an append in a core’s transaction, by the kind of event',
  run,
};
