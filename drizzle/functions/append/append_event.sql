-- Appends one event to a stream, with a delivery and its row of `pending` for each active, subscribed webhook, in the caller's transaction:
-- all of it commits or nothing. Callable from any language; nobody else may write the log. Invariant: (stream, version) is unique without
-- gaps; each row fits the catalog (`event_types`), keys in its order. Refusals:
--   CT400  payload unlike the catalog or too large; time over a day before the stream's last; transfer in the future or before the contract
--   CT403  partner unknown or not the stream's; payload that names another loan (nobody gets another's); stream of an erased worker
--   CT404  type unknown, reserved, or of another family
--   CT409  not the stream's version (the detail has it, as {"version":3}): decide again in a new transaction; second end, closing or number
--   CT423  loan whose events left with their months (KEEP_MONTHS); CT503  unknown server, until `adopt` (refuse_strange_server)
-- Event, deliveries and `snapshot` share one snapshot, so history can tell which webhooks this append saw. `loan_version` is null unless
-- `data` names the loan. A setting `carteiro.traceparent` is the event's trace; a malformed one is ignored. `usual_event` knows the usual
-- payloads; `acceptable_payload` reads others. Lanes are not touched, so that loans of one partner never wait for each other.
create or replace function append_event(
  p_stream uuid,
  p_expected_version bigint,
  p_type text,
  p_partner_id uuid,
  p_data json,
  p_actor text,
  p_request_id text default null,
  p_occurred_at timestamptz default null,
  p_family text default 'backoffice',
  out event_id uuid,
  out fan_out integer
)
  language plpgsql security definer set search_path from current
  -- So that few partners and webhooks are found by their keys, too: reading all 100 of each took 5 % of an append.
  set random_page_cost = 1.1
as $$
declare
  occurred constant timestamptz := date_trunc('milliseconds', coalesce(p_occurred_at, clock_timestamp()));
  traced constant text := current_setting('carteiro.traceparent', true);
  -- An expression, which starts no statement as `perform` would; what it answers does not matter.
  tells_the_watch constant boolean := pg_try_advisory_xact_lock_shared(advisory_lock('appending'));
  known record;
  other record;
  settled date;
begin
  if current_setting('carteiro.known_server', true) is distinct from session_mark() then
    perform refuse_strange_server();
  end if;
  if num_nulls(p_stream, p_expected_version, p_type, p_partner_id, p_actor, p_family) > 0 then
    raise exception '% must not be null', case
        when p_stream is null then 'p_stream' when p_expected_version is null then 'p_expected_version' when p_type is null then 'p_type'
        when p_partner_id is null then 'p_partner_id' when p_actor is null then 'p_actor' else 'p_family'
      end
      using errcode = 'CT400', hint = 'the first event of a stream expects version 0; the actor is the name that the log keeps';
  elsif p_expected_version not between 0 and 2147483646 then
    perform refuse_version(p_stream, p_expected_version, occurred);
  elsif p_actor !~ '^[^[:cntrl:]]+$' or length(p_actor) > {{MAX_ACTOR}} then
    raise exception 'p_actor must have 1 to {{MAX_ACTOR}} characters, none of them a control character'
      using errcode = 'CT400', hint = 'the actor is the name that the log keeps';
  elsif p_request_id !~ '^[[:graph:]]+$' or length(p_request_id) > 64 then
    raise exception 'p_request_id must have 1 to 64 visible characters, without a space'
      using errcode = 'CT400', hint = 'it is the id of the request that caused the event, or null';
  elsif occurred not between '2000-01-01T00:00Z' and clock_timestamp() + interval '1 day' then
    raise exception 'p_occurred_at must lie between the year 2000 and a day from now, not be %', occurred
      using errcode = 'CT400', hint = 'null stands for now';
  elsif octet_length(p_data::text) > 65536 then
    perform refuse_size(p_data);
  end if;
  if p_type in ('averbacao.concluida', 'averbacao.falhou') and json_typeof(p_data) = 'object' then
    -- Of two ends at once the stream's version refuses one.
    select * into other from events e
    where e.stream = p_stream and e.type in ('averbacao.concluida', 'averbacao.falhou')
      and field_of(e.data, 'averbacao_id') = lower(field_of(p_data, 'averbacao_id'))
    limit 1;
    if found then
      raise exception 'registration % has ended: %, version %, by %', other.data ->> 'averbacao_id', other.type, other.version, other.actor
        using errcode = 'CT409', detail = format('{"version":%s}', stream_version(p_stream)),
              hint = 'read the stream''s core_deliveries and core_streams: the first end stands';
    end if;
  end if;
  known := usual_event(p_type, p_family, p_data::text, p_stream::text);
  if known.version is null then
    p_data := acceptable_payload(p_stream, p_type, p_partner_id, p_family, p_data);
    select version, kind = 'emitted' as is_emitted, 'emprestimo_id' = any (keys) as is_of_loan
    into known from event_types where name = p_type;
  end if;

  -- `is not distinct from` keeps the partner's index out of a plan that was made while the log was empty: it read the partner's whole log.
  with partner as (
    select active from partners where id = p_partner_id
  ),
  subscribed as (
    select w.id
    from partner join webhooks w on known.is_emitted and partner.active
    where w.partner_id = p_partner_id and w.active and p_type = any (w.events)
  ),
  event as (
    insert into events (stream, version, type, other_family, partner_id, data, occurred_at, actor, request_id,
                        fan_out, catalog_version, is_of_loan, seen, traceparent)
    select p_stream, p_expected_version + 1, p_type, nullif(p_family, 'backoffice'), p_partner_id, p_data, occurred, p_actor, p_request_id,
           case when known.is_emitted then (select count(*) from subscribed) end, known.version,
           nullif(known.is_emitted and known.is_of_loan, false),
           case when known.is_emitted then seen_beside_others() end,
           case when traced ~ '^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$' then traced end
    from partner
    where p_expected_version = 0 and not exists (select from loans where id = p_stream and away_digest is not null)
       or exists (select from events e
                  where e.stream = p_stream and e.version = p_expected_version and e.partner_id is not distinct from p_partner_id
                    and e.occurred_at <= occurred + interval '1 day'
                    and (e.salt is not null or not exists (
                      select from events f where f.stream = p_stream and f.salt is null and f.data ->> 'cpf_trabalhador' = 'apagado')))
    on conflict (stream, version) do nothing
    returning events.id, events.fan_out
  ),
  delivery as (
    insert into deliveries (event_id, webhook_id, partner_id, next_attempt_at)
    select event.id, subscribed.id, p_partner_id, now() from event, subscribed
    returning deliveries.id, webhook_id
  ),
  queued as (
    insert into pending (webhook_id, delivery_id, event_id, partner_id)
    select webhook_id, delivery.id, event.id, p_partner_id from event, delivery
  )
  select event.id, coalesce(event.fan_out, 0) into event_id, fan_out from event;

  if event_id is null then
    perform acceptable_payload(p_stream, p_type, p_partner_id, p_family, p_data);
    perform refuse_version(p_stream, p_expected_version, occurred);
  end if;
  if p_type = 'repasse.processado' then
    perform refuse_second_closing(p_partner_id, p_data, p_expected_version);
  elsif p_type in ('emprestimo.contratado', 'emprestimo.solicitado', 'emprestimo.emitido') then
    -- Of two loans of one number at once the later waits here for the other's commit.
    insert into numbered_loans (partner_id, number, loan_id) values (p_partner_id, p_data ->> 'numero', p_stream) on conflict do nothing;
    if not found then
      select loan_id into other from numbered_loans where partner_id = p_partner_id and number = p_data ->> 'numero' and loan_id <> p_stream;
      if found then
        raise exception 'another loan bears this number: %', other.loan_id
          using errcode = 'CT409', detail = format('{"version":%s}', p_expected_version), hint = 'give the loan a number of its own';
      end if;
    end if;
  -- Our own core, which alone is a member of the app's role, has judged the day itself, in the sandbox by another rule (src/log/append.ts).
  elsif p_type = 'desembolso.liquidado' and (p_data ->> 'data_liberacao')::date <> (now() at time zone 'America/Sao_Paulo')::date
        and (current_setting('carteiro.day_is_judged', true) is distinct from 'yes' or not pg_has_role(session_user, 'carteiro_app', 'member')) then
    settled := (p_data ->> 'data_liberacao')::date;
    select (e.occurred_at at time zone 'America/Sao_Paulo')::date as day into other from events e
    where e.stream = p_stream and e.version <= 1 and e.type in ('emprestimo.contratado', 'emprestimo.solicitado');
    -- Tomorrow is let through: a core may count its days in UTC.
    if settled > (now() at time zone 'America/Sao_Paulo')::date + 1 or other.day > settled then
      raise exception '"data_liberacao" must be a day from the loan''s contract% to today', coalesce(to_char(other.day, ', YYYY-MM-DD,'), '')
        using errcode = 'CT400', hint = 'a transfer is told once it is settled; what is long past comes in with append_history';
    end if;
  end if;
end
$$;
