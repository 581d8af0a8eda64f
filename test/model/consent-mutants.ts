/** Mutants of consent. */
import { readMutants } from './read-mutants.ts';

export const CONSENT_MUTANTS = readMutants(String.raw`
state_of_lane.sql: a webhook without a first 2xx has its whole window
- case when l.failing_since is not null or w.refusals is not null then 1 end
+ case when l.failing_since is not null then 1 end
consent: [2-9] are in flight before a first 2xx

state_of_lane.sql: the minute behind ten failures is not kept
- and (w.quiet_until > moment) is not true
consent: one left within a minute

rearm_lanes.sql: a lane is looked at all through the minute
- when s.quiet_until > moment and s.due_at <= moment then s.quiet_until
consent: looked at while its webhook must wait

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
- set refusals = case when accepted = 0 then least(refusals + failed, 1000) end
+ set refusals = least(refusals + failed, 1000)
consent: a 2xx did not end it

queue/consent.ts: an answer of another URL counts
- where w.id = told.id and w.url = told.url and w.refusals is not null
+ where w.id = told.id and w.refusals is not null
consent: what the old URL answers counts

queue/consent.ts: a poller remembers for ever which URL has answered
- this.#given.clear();
-       this.#forgetsAtMs
+ this.#forgetsAtMs
consent: a URL that came back waits

../webhooks/changes.ts: a new URL keeps the consent of the old one
- then refusals else 0 end
+ then refusals else refusals end
consent: a new URL does not begin again
`);
