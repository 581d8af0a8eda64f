/** Mutants of consent. */
import { readMutants } from './read-mutants.ts';

export const CONSENT_MUTANTS = readMutants(String.raw`
queue/keepers.ts: a webhook without a first 2xx has its whole window
- m.failing_since is not null or w.refusals is not null as "isSingle"
+ m.failing_since is not null as "isSingle"
consent: [2-9] are in flight before a first 2xx

queue/lanes/kept-lane.ts: the minute behind ten failures is not kept
-  || (quietUntil?.getTime() ?? 0) > nowMs
consent: one left within a minute

queue/consent.ts: the failures of another poller are forgotten
- least(refusals + failed, 1000)
+ failed
- and refusals + failed >=
+ and failed >=
consent: one left within a minute

queue/consent.ts: ten failures bring no minute
- then coalesce(\${now}::timestamptz, now()) + \${QUIET_S} * interval '1 second' end
+ then null::timestamptz end
consent: one left within a minute

queue/consent.ts: a 2xx does not end it
- set refusals = case when not is_accepted then least(refusals + failed, 1000) end
+ set refusals = least(refusals + failed, 1000)
consent: a 2xx did not end it

queue/consent.ts: an answer of another URL counts
- where w.id = reported.id and w.url = reported.url and
+ where w.id = reported.id and
consent: what the old URL answers counts

queue/keepers.ts: a keeper does not learn that a URL has not answered
- w.refusals is null as "hasAnswered"
+ true as "hasAnswered"
consent: one left within a minute

../webhooks/changes.ts: a new URL keeps the consent of the old one
- then refusals else 0 end
+ then refusals else refusals end
consent: a new URL does not begin again
`);
