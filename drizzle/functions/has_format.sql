-- Whether a value's text is of a format of the catalog: the text of a type, in its ISO form, or of a regular expression.
-- A value that is null, and a format that is null, fit.
create or replace function has_format(value text, format text) returns boolean
  language sql stable parallel safe
return case
  when value is null or format is null then true
  when format like '^%' then value ~ format
  else value like case format
      when 'uuid' then '________-____-____-____-____________'
      when 'date' then '____-__-__'
      else '____-__-__T__:__:__.___Z'
    end and pg_input_is_valid(value, format)
end;
