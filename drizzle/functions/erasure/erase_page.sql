-- Erases the events on one page of an order: overwrites their data (in another worker's event only the CPF; the page's digest tells which),
-- keeps the sealed hashes, and removes the salts, the attempts' answers, and the rows that hold the loans' contracts. Repeatable. Nobody
-- else may overwrite events, so each row without a salt has its sealed order.
create or replace function erase_page(p_order uuid, p_number integer) returns void
  language plpgsql security definer set search_path from current
as $$
declare
  listed uuid[];
  left_of_them bytea[];
  own uuid[];
  worker constant text := (select cpf from erasures where order_id = p_order);
  contracted uuid[];
begin
  select event_ids, remains into strict listed, left_of_them from erasure_pages where order_id = p_order and number = p_number;
  own := array(
    select e.id from unnest(listed, left_of_them) as one (id, remains) join events e using (id)
    where sha256(convert_to(erased(e.data)::text, 'UTF8')) = one.remains);

  update events
  set commitment = coalesce(commitment, sha256(salt || case
        when type = 'webhook.teste' and field_of(data, 'exemplo_de') <> ''
        then envelope(data ->> 'exemplo_de', occurred_at, family, partner_id, data -> 'data')
        else envelope(type, occurred_at, family, partner_id, data) end)),
      data = case when id = any (own) then erased(data) else without_cpf(data, worker) end,
      salt = null
  where id = any (listed) and salt is not null;

  update attempts
  set commitment = coalesce(commitment, sha256(salt || convert_to(answer, 'UTF8'))), answer = null, salt = null
  where salt is not null
    and delivery_id = any (array(
      select d.id
      from events e
      join webhooks w on w.partner_id = e.partner_id
      join deliveries d on d.webhook_id = w.id and d.event_id = e.id
      where e.id = any (listed)));

  update margin_queries set worker_cpf = 'apagado'
  where id = any (array(select stream from events where id = any (own) and type = 'margem.concluida'));

  contracted := array(
    select stream from events where id = any (own) and type in ('emprestimo.contratado', 'emprestimo.solicitado'));
  update idempotency_keys
  set request_hash = sha256(uuid_send(gen_random_uuid())), body = erased(body),
      key = case when key ~ '[0-9]{3}[.]?[0-9]{3}[.]?[0-9]{3}-?[0-9]{2}' then 'apagado:' || gen_random_uuid() else key end
  where body is not null
    and coalesce(body ->> 'id', body ->> 'emprestimo_id', body ->> 'autorizacao_id', body ->> 'consulta_margem_id') = any (
      contracted::text[] || array(
        select stream::text from events
        where id = any (own) and type in ('autorizacao.confirmada', 'margem.concluida', 'margem.falhou')));
  update idempotency_keys set body = without_cpf(body, worker)
  where worker is not null and body is not null
    and coalesce(body ->> 'id', body ->> 'emprestimo_id') = any (array(select stream::text from events where id = any (listed) and not id = any (own)));
  update documents set file_name = null, content = E'\\x00', sha256 = sha256(E'\\x00') where loan_id = any (contracted);
  update registrations set protocol = null, contradiction = erased(contradiction) where loan_id = any (contracted);
  update bond_records
  set data = erased(data), emitted = erased(emitted),
      reference = case when reference ~ '[0-9]{3}[.]?[0-9]{3}[.]?[0-9]{3}-?[0-9]{2}' and reference !~ '^(evento|nucleo):'
                       then 'apagado:' || id else reference end
  where loan_id = any (contracted);
  delete from bonds_unknown where loan_id = any (contracted);
  update simulated_registrations set error = 'apagado' where loan_id = any (contracted) and error is not null;
  update simulated_answers set answer = erased(answer)
  where registration_id = any (array(select id from registrations where loan_id = any (contracted)));
  update simulated_bonds set data = erased(data) where loan_id = any (contracted);
end
$$;
