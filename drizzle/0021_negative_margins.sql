ALTER TABLE "margin_queries" DROP CONSTRAINT "margin_queries_amounts";--> statement-breakpoint
ALTER TABLE "margin_queries" ADD CONSTRAINT "margin_queries_amounts" CHECK (earnings_centavos >= 0);