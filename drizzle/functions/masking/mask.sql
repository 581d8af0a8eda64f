-- Masks worker data and query strings in a text: the passes of src/contract/masking/masking.ts with the expressions of mask-in-sql.ts.
-- U+E000 fences ids, U+E001 marks where a query or a value begins. Texts without eleven digits together skip the expensive expressions.
create or replace function mask(content text) returns text
language sql immutable strict parallel safe set search_path from current
return case when content !~* 'nome|cpf|[?]|\uE000|\uE001' and content !~ '{{MASK_DIGITS_AT_ALL}}' then content else (
  select translate(
    case when told ~ '{{MASK_DIGITS_AT_ALL}}' then regexp_replace(regexp_replace(regexp_replace(told,
        '{{MASK_IN_A_ROW}}', '***********', 'g'),
        '{{MASK_GROUPS}}', '***********', 'g'),
        '{{MASK_ONE_BY_ONE}}', '***********', 'g')
      else told end, U&'\E000\E001', '')
  from (
    select regexp_replace(regexp_replace(regexp_replace(
      case when walled ~ '\uE000(?:[0-9A-Fa-f][0-9]{3}\uE000[0-9]{4}\uE000[0-9]{4}|[0-9]{4}\uE000[0-9]{4}\uE000[0-9]{3}[0-9A-Fa-f])\uE000'
        then lay_cpfs_bare(walled) else walled end,
      '(?<![0-9])(20[0-9]{2}-)([0-9]{8})(?![0-9])', U&'\E000\\1\E000\\2\E000', 'g'),
      '{{MASK_KEY}}', U&'\\&\E001', 'g'),
      '{{MASK_HIDDEN}}', '{{MASK_VALUES}}***********', 'g') as told
    from (
      select regexp_replace(
        translate(replace(regexp_replace(translate(content, U&'\E000\E001', ''),
          '{{MASK_URL}}', U&'\\1\\2\E001', 'g'), U&'?\E001', '?***********'), U&'\E001', ''),
        '(?<![0-9A-Za-z])([0-9A-Fa-f]{4})([0-9A-Fa-f]{4})-([0-9A-Fa-f]{4})-([1-8][0-9A-Fa-f]{3})-([89ABab][0-9A-Fa-f]{3})-([0-9A-Fa-f]{4})([0-9A-Fa-f]{4})([0-9A-Fa-f]{4})(?![0-9A-Za-z])',
        U&'\E000\\1\E000\\2-\E000\\3-\E000\\4-\E000\\5-\E000\\6\E000\\7\E000\\8\E000', 'g') as walled
      offset 0) without_queries
    offset 0) with_keys) end;
