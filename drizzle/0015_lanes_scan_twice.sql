ALTER TABLE "lanes" ADD COLUMN "next_scan_from" timestamp with time zone DEFAULT '-infinity' NOT NULL;--> statement-breakpoint
-- It has no key by which a logical replica could find what is deleted.
ALTER TABLE "arrivals" REPLICA IDENTITY FULL;
