-- Appends events from before the lender came to Carteiro: with their own times, marked as imported, without deliveries. Each of `p_events`
-- has append_event's arguments as keys (stream, version, type, partner_id, occurred_at, data; optional family, actor, request_id).
-- `p_closed_until` (2026-10), the last month settled elsewhere, is kept for each loan with a transfer among the events. An existing event
-- is left as it is, so a call can be repeated; one written at or after `p_began_at` stands twice in one file.
-- Invariant: append_event's, and no imported event is ever delivered. It refuses the whole call with append_event's codes; the detail is
-- the number of the first misfit; CT409 also for a gap, a repeated version, another event there, or history that contradicts an append.
-- History may come after appends at version 0: it then takes the versions 1 - n to 0, and its first call brings all n events.
-- A row of `history_batches` tells the projector. Concurrent calls wait only where they write one stream, month or number. Of loans of one
-- partner and number, the first keeps it. `import` judges the loan's rules beforehand (src/core/history/append-batch.ts).
create or replace function append_history(
  p_events json[], p_closed_until text default null, p_began_at timestamptz default null,
  out given integer, out appended integer
)
  language plpgsql security definer set search_path from current
as $$
declare
  own_keys constant text[] := '{stream,version,type,partner_id,occurred_at,data,family,actor,request_id}';
  batch events[];
  bad integer;
  one events;
  misfit text;
  code text;
  advice text;
  fault record;
  highest record;
  standing integer;
  -- Streams whose history comes behind an append, and by how much the versions of each are lowered.
  late uuid[];
  lowered integer[];
begin
  if current_setting('carteiro.known_server', true) is distinct from session_mark() then
    perform refuse_strange_server();
  end if;
  if p_closed_until is not null and (p_closed_until !~ '^[2-9][0-9]{3}-(0[1-9]|1[0-2])$'
      or p_closed_until >= to_char(now() at time zone 'America/Sao_Paulo', 'YYYY-MM')) then
    raise exception 'p_closed_until (--closed-until) must be a month that is over, as 2026-10' using errcode = 'CT400';
  end if;

  -- Each event, or what is wrong with its keys. That names the key and the rule and repeats no value, because a CPF may stand where it
  -- does not belong. What `data` holds is looked at below.
  select array_agg(case when what is null then json_populate_record(null::events, event) end order by n), count(*),
         min(n) filter (where what is not null), (array_agg(what order by n) filter (where what is not null))[1]
  into batch, given, bad, misfit
  from (
    select event, n, case
        when event is null or json_typeof(event) <> 'object' then 'it must be an object'
        when readable is null then E'it holds the character \\u0000 or half of a surrogate pair'
        else coalesce(case when num_nonnulls(stream, version, type, partner_id, occurred_at, data, family, actor, request_id)
                                  < (select count(*) from json_object_keys(event)) then (
          select coalesce(min(key) filter (where times > 1) || ': stands twice',
                          to_json(left(min(key) filter (where key <> all (own_keys)), 40))
                          || ': is unknown; the keys are ' || array_to_string(own_keys, ', '))
          from (select key, count(*) as times from json_object_keys(event) key group by key) counted) end,
      case
        when stream is null or not has_format(stream, 'uuid') then 'stream: must be a UUID'
        when version is null or version !~ '^[1-9][0-9]{0,8}$' then 'version: must be a whole number, from 1'
        when type is null then 'type: is missing'
        when partner_id is null or not has_format(partner_id, 'uuid') then 'partner_id: must be a UUID'
        when occurred_at is null or occurred_at !~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-5][0-9]([.][0-9]{1,6})?(Z|[+-][0-9]{2}:[0-9]{2})$'
             or not pg_input_is_valid(occurred_at, 'timestamptz') then 'occurred_at: must be an instant as 2025-03-31T12:00:00.000Z'
        when occurred_at::timestamptz < '2000-01-01T00:00Z' then 'occurred_at: lies before the year 2000'
        when occurred_at::timestamptz > clock_timestamp() then 'occurred_at: lies in the future'
        when data is null then 'data: is missing'
        when actor !~ '^[^[:cntrl:]]+$' or length(actor) > 200 then 'actor: must have 1 to 200 characters, none of them a control character'
        when request_id !~ '^[[:graph:]]+$' or length(request_id) > 64 then 'request_id: must have 1 to 64 visible characters, without a space'
      end) end as what
    from (select event, n, case when json_typeof(event) = 'object' and (strpos(event::text, E'\\u') = 0 or pg_input_is_valid(event::text, 'jsonb'))
                                then event end as readable
          from unnest(p_events) with ordinality as e (event, n)) given_events
    left join lateral json_to_record(readable) as line (stream text, version text, type text, partner_id text, occurred_at text, data json,
                                                        family text, actor text, request_id text) on true
    offset 0
  ) looked_at;
  if bad is not null then
    raise exception '%', misfit using errcode = 'CT400', detail = bad;
  end if;
  perform refuse_away(id) from loans where id = any (array(select stream from unnest(batch))) and away_digest is not null;

  select array_agg(stream), array_agg(lower_by) into late, lowered
  from (
    select e.stream, coalesce(1 - (select min(h.version) from events h where h.stream = e.stream and h.version < 1), max(e.version)) as lower_by
    from unnest(batch) e join events f on f.stream = e.stream and f.version = 1 and not f.imported
    group by e.stream
  ) appended_to;
  if late is not null then
    for n in 1..given loop
      batch[n].version := batch[n].version - coalesce(lowered[array_position(late, batch[n].stream)], 0);
    end loop;
  end if;

  -- Payloads that are not the usual ones are looked at one by one, and put into the catalog's order.
  for fault in
    select e.ordinality as n
    from unnest(batch) with ordinality e
    left join partners p on p.id = e.partner_id
    where p.id is null or octet_length(e.data::text) > 65536
      or (usual_event(e.type, coalesce(e.family, 'backoffice'), e.data::text, e.stream::text)).version is null
    order by e.ordinality
  loop
    one := batch[fault.n];
    -- It came in before its worker was erased. Nobody knows what it held.
    continue when exists (select from events e where e.stream = one.stream and e.version = one.version and e.salt is null);
    begin
      perform refuse_size(one.data);
      batch[fault.n].data := acceptable_payload(one.stream, one.type, one.partner_id, coalesce(one.family, 'backoffice'), one.data);
    exception when sqlstate 'CT400' or sqlstate 'CT403' or sqlstate 'CT404' then
      get stacked diagnostics code = returned_sqlstate, misfit = message_text, advice = pg_exception_hint;
      -- Of what is refused with CT403, an unknown partner alone names no key.
      raise exception '%', case when misfit like 'there is no partner %' then 'partner_id: ' || misfit else misfit end
        using errcode = code, hint = advice, detail = fault.n;
    end;
  end loop;

  -- Each against the one before it in its stream, and against the one that stands in its place.
  select * into fault from (
    select n, coalesce(
      case
        when version + by > 1 and before_version is null
          then format('version: %s leaves a gap: the stream has no version %s', version + by, version + by - 1)
        when before_version = version then format('version: %s stands twice', version + by)
        when not before_imported then format('version: %s was appended, not imported: history ends before it, leave this event out', before_version + by)
        when is_erased then format('version: %s is of a worker who was erased', before_version + by)
        when version <> coalesce(before_version, -by) + 1 then format('version: %s does not follow %s', version + by, before_version + by)
        when before_partner <> partner_id then 'partner_id: the stream is another partner''s'
        when before_at > occurred_at then format('occurred_at: lies before that of version %s', before_version + by)
      end,
      case
        when stands_at is null then null
        when not is_imported then format('version: %s was appended, not imported: it stands, leave this event out', version + by)
        when not is_same then format('version: %s is there already and holds another event', version + by)
        when stands_at >= p_began_at then format('version: %s stands twice', version + by)
      end) as what
    from (
      select e.ordinality as n, e.version, coalesce(l.by, 0) as by, e.partner_id, e.occurred_at, uuid_extract_timestamp(s.id) as stands_at, s.imported as is_imported,
             -- Of a worker who was erased since nobody knows the data.
             (s.type, s.family, s.partner_id, case when s.salt is not null then s.data::text end, s.occurred_at, s.actor, s.request_id)
               is not distinct from (e.type, coalesce(e.family, 'backoffice'), e.partner_id,
                                     case when s.salt is not null then e.data::text end, e.occurred_at,
                                     coalesce(e.actor, 'import'), e.request_id) as is_same,
             coalesce(lag(e.version) over w, b.version) as before_version,
             coalesce(lag(true) over w, b.imported) as before_imported, s.id is null and b.id is not null and b.salt is null as is_erased,
             coalesce(lag(e.partner_id) over w, b.partner_id) as before_partner,
             coalesce(lag(e.occurred_at) over w, b.occurred_at) as before_at
      from unnest(batch) with ordinality e
      left join events s on s.stream = e.stream and s.version = e.version
      left join events b on b.stream = e.stream and b.version = e.version - 1
      left join unnest(late, lowered) as l (stream, by) on l.stream = e.stream
      window w as (partition by e.stream order by e.ordinality)
    ) placed
  ) told
  where what is not null
  order by n
  limit 1;
  if found then
    raise exception '%', fault.what using detail = fault.n, errcode = case split_part(fault.what, ':', 1)
      when 'version' then 'CT409' when 'partner_id' then 'CT403' else 'CT400' end;
  end if;

  -- What comes behind an append says nothing that partners were told otherwise. The loan's rules are asked by `import`.
  select e.ordinality as n, a.version, a.what into fault
  from unnest(batch) with ordinality e
  join lateral (
    select a.version, case
        when a.partner_id <> e.partner_id then 'is another partner''s'
        when a.type = any ('{emprestimo.contratado,emprestimo.solicitado}') or not 'emprestimo_id' = any (t.keys) then 'begins its stream: nothing lies before it'
        when a.occurred_at < e.occurred_at then 'lies before this event (occurred_at)'
        when a.type = e.type and (a.data::jsonb = e.data::jsonb or a.type = any (
               '{emprestimo.emitido,emprestimo.emissao_falhou,assinatura.concluida,desembolso.liquidado,trabalhador.desligado}'))
          then 'is this event already'
        else (
          select 'says another ' || key from json_each(a.data) told (key, value)
          where e.type = any ('{emprestimo.contratado,emprestimo.emitido}')
            and key = any ('{numero_emprestimo,cpf_trabalhador,tipo_assinatura,valor_liberado}')
            and value::jsonb <> (e.data -> case key when 'numero_emprestimo' then 'numero' else key end)::jsonb
          limit 1)
      end as what
    from events a join event_types t on t.name = a.type
    where a.stream = e.stream and a.version >= 1
  ) a on a.what is not null
  where e.stream = any (late) and e.version < 1
    and not exists (select from events s where s.stream = e.stream and s.version = e.version)
  order by n, a.version
  limit 1;
  if found then
    raise exception 'version: %, which was appended, %', fault.version, fault.what
      using errcode = 'CT409', detail = fault.n, hint = 'what was appended stands: correct the history, or leave it out';
  end if;

  -- What stands already came with this month, or with none.
  select e.ordinality as n, s.until into fault
  from unnest(batch) with ordinality e
  join events known on known.stream = e.stream and known.version = e.version
  left join settled_elsewhere s on s.loan_id = e.stream
  where e.type = 'desembolso.liquidado' and s.until is distinct from p_closed_until
  order by e.ordinality limit 1;
  if found then
    raise exception 'closed_until: the installments of this loan came in as settled elsewhere until %, not %',
        coalesce(fault.until, 'no month'), coalesce(p_closed_until, 'no month')
      using errcode = 'CT409', detail = fault.n, hint = 'give the month (--closed-until) of the first run';
  end if;

  select count(*) into standing from unnest(batch) e join events s on s.stream = e.stream and s.version = e.version;
  appended := given - standing;
  if appended > 0 then
    for fault in
      select e.ordinality as n, e.partner_id, e.data from unnest(batch) with ordinality e
      where e.type = 'repasse.processado' and not exists (select from events s where s.stream = e.stream and s.version = e.version)
      order by e.ordinality
    loop
      begin
        perform refuse_second_closing(fault.partner_id, fault.data);
      exception when sqlstate 'CT409' then
        raise exception 'data.competencia: %', sqlerrm using errcode = 'CT409', detail = fault.n;
      end;
    end loop;
    with written as (
      insert into events (stream, version, type, other_family, partner_id, data, occurred_at, actor, request_id, fan_out, imported,
                          catalog_version, is_of_loan, seen)
      select e.stream, e.version, e.type, nullif(e.family, 'backoffice'), e.partner_id, e.data, e.occurred_at, coalesce(e.actor, 'import'),
             e.request_id, case when t.kind = 'emitted' then 0 end, true, t.version,
             nullif(t.kind = 'emitted' and 'emprestimo_id' = any (t.keys), false),
             case when t.kind = 'emitted' then seen_beside_others() end
      from unnest(batch) with ordinality e
      join event_types t on t.name = e.type
      order by e.ordinality
      on conflict (stream, version) do nothing
      returning epoch, tx, position
    ),
    told as (
      insert into history_batches (position) select max(position) from written
    )
    select count(*) into standing from written;
    if standing <> appended then
      raise exception 'version: one of them was appended meanwhile' using errcode = 'CT409', hint = 'call it again';
    end if;
  end if;

  if p_closed_until is not null then
    insert into settled_elsewhere (loan_id, partner_id, until)
    select e.stream, e.partner_id, p_closed_until from unnest(batch) e where e.type = 'desembolso.liquidado'
    on conflict (loan_id) do update set until = excluded.until where settled_elsewhere.until < excluded.until;
  end if;
  insert into numbered_loans (partner_id, number, loan_id)
  select e.partner_id, e.data ->> 'numero', e.stream from unnest(batch) with ordinality e
  where e.type in ('emprestimo.contratado', 'emprestimo.solicitado', 'emprestimo.emitido') order by 2, e.ordinality
  on conflict do nothing;
  for highest in
    select split_part(number, '-', 1) as series, max(split_part(number, '-', 2)::bigint) as number
    from (select e.data ->> 'numero' as number from unnest(batch) e where e.type like 'emprestimo.%') numbered
    where number ~ '^(P|[0-9]{4})-[0-9]{1,15}$'
    group by series
  loop
    perform raise_loan_numbers(highest.series, highest.number);
  end loop;
end
$$;
