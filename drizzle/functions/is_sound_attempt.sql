-- The rules of each row of `attempts`, as one CHECK: see drizzle/tables/delivery.ts.
create or replace function is_sound_attempt(
  number integer, late boolean, outcome text, status_code smallint, duration_ms integer, answer text, has_url boolean
) returns boolean
  language plpgsql immutable parallel safe set search_path from current
as $$
begin
  return number >= 1 and has_url
    and outcome in (
      'entregue', 'resposta_nao_2xx', 'tempo_esgotado', 'erro_conexao', 'erro_tls', 'destino_recusado',
      'erro_autorizacao', 'desconhecido'
    )
    -- A status code is what a receiver answered, and success is one of 200 to 299.
    and (status_code is not null) = (outcome in ('entregue', 'resposta_nao_2xx'))
    and (outcome = 'entregue') = coalesce(status_code between 200 and 299, false)
    -- Nobody measured a lost attempt, and nobody reports one late.
    and (outcome = 'desconhecido') = (duration_ms is null)
    and not (late and outcome = 'desconhecido')
    and (answer is null or length(answer) <= 12600);
end
$$;

do $$
begin
  if not exists (select from pg_constraint where conrelid = 'attempts'::regclass and conname = 'attempts_sound') then
    alter table attempts add constraint attempts_sound check (
      is_sound_attempt(number, late, outcome, status_code, duration_ms, answer, url is not null or target is not null)
    );
  end if;
end
$$;
