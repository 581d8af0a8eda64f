-- The log's streams as the loan core may see them: which events stand there, and of a loan the number that it bears. No payload.
drop view if exists core_streams;
create view core_streams as
select e.stream, e.version, e.type, e.occurred_at, l.number as loan_number
from events e
left join loans l on l.id = e.stream;
