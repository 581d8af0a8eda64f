-- For append_event, when one of its arguments looks wrong: says which and why, or finds that the setting
-- `carteiro.max_payload_kib` allows the payload's size. The setting is 64, and 1024 at most.
create or replace function check_append(
  p_stream uuid, p_expected_version bigint, p_type text, p_partner_id uuid, p_data json, p_actor text, p_request_id text,
  p_occurred_at timestamptz, p_family text
) returns void
  language plpgsql stable set search_path from current
as $$
declare
  setting constant text := current_setting('carteiro.max_payload_kib', true);
  max_kib constant int := least(case when setting ~ '^[1-9][0-9]{0,5}$' then setting::int else 64 end, 1024);
begin
  if num_nulls(p_stream, p_expected_version, p_type, p_partner_id, p_actor, p_family) > 0 then
    raise exception '% must not be null', case
        when p_stream is null then 'p_stream' when p_expected_version is null then 'p_expected_version' when p_type is null then 'p_type'
        when p_partner_id is null then 'p_partner_id' when p_actor is null then 'p_actor' else 'p_family'
      end
      using errcode = 'CT400', hint = 'the first event of a stream expects version 0; the actor is the name that the log keeps';
  elsif p_expected_version not between 0 and 2147483646 then
    perform refuse_version(p_stream, p_expected_version, p_occurred_at);
  elsif p_actor !~ '^[^[:cntrl:]]+$' or length(p_actor) > 200 then
    raise exception 'p_actor must have 1 to 200 characters, none of them a control character'
      using errcode = 'CT400', hint = 'the actor is the name that the log keeps';
  elsif p_request_id !~ '^[[:graph:]]+$' or length(p_request_id) > 64 then
    raise exception 'p_request_id must have 1 to 64 visible characters, without a space'
      using errcode = 'CT400', hint = 'it is the id of the request that caused the event, or null';
  elsif not (p_occurred_at >= '2000-01-01T00:00Z' and p_occurred_at <= clock_timestamp() + interval '1 day') then
    raise exception 'p_occurred_at must lie between the year 2000 and a day from now, not be %', p_occurred_at
      using errcode = 'CT400', hint = 'null stands for now';
  elsif octet_length(p_data::text) > max_kib * 1024 then
    raise exception 'the payload has % bytes, and % KiB are allowed', octet_length(p_data::text), max_kib
      using errcode = 'CT400', hint = 'an event tells what happened; a document belongs elsewhere. Up to 1024: alter database … set carteiro.max_payload_kib';
  end if;
end
$$;
