-- Deliveries of one transaction are due at the same instant. As one posting list their index entries could only be
-- marked dead together, and each claim walked over all that were delivered already: 150 heap fetches a lane in the
-- middle of a drain of 100,000.
alter index deliveries_due set (deduplicate_items = off);
--> statement-breakpoint
alter index deliveries_in_flight set (deduplicate_items = off);
