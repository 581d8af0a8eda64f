-- Autovacuum rests between pages, and keeps its snapshot while it makes a table's statistics: for up to 4 s on `deliveries`,
-- whose sampled pages it also writes, and nothing that dies meanwhile can be taken away. So it rests a tenth as often on the
-- tables that grow for ever (arrivals and lanes: not at all, 0012).
ALTER TABLE "deliveries" SET (autovacuum_vacuum_cost_limit = 2000);--> statement-breakpoint
ALTER TABLE "attempts" SET (autovacuum_vacuum_cost_limit = 2000);--> statement-breakpoint
ALTER TABLE "messages" SET (autovacuum_vacuum_cost_limit = 2000);--> statement-breakpoint
ALTER TABLE "events" SET (autovacuum_vacuum_cost_limit = 2000);
