/** Mutants of what dead pollers are known by; each breaks one rule. */
import { readMutants } from './read-mutants.ts';

export const DEAD_POLLER_MUTANTS = readMutants(String.raw`
queue/liveness.ts: a living poller’s claims are ended: nobody asks for its lock
- poller_number(k.name) <> all (numbers)
+ numbers is not null
living poller: living pollers were ended

queue/liveness.ts: one that never had a lock is ended
- k.has_lock and
living poller: living pollers were ended

queue/maintenance/dead-pollers.ts: a dead poller’s claims are not ended: the grace begins anew with each look
- first.get(poller) ?? answeredAtMs
+ answeredAtMs
dead poller: dead poller are not ended

queue/maintenance/dead-pollers.ts: a dead poller’s claims are ended without a grace
- const oldestMs = answeredAtMs - GRACE_MS;
+ const oldestMs = answeredAtMs;
dead poller: within the grace

queue/maintenance/dead-pollers.ts: the grace does not begin anew after a restart
- if (term !== this.#term || heartbeat.server !== this.#server)
+ if (this.#term === null)
restarted server: came back to a new server were ended

queue/maintenance/dead-pollers.ts: after a restart the grace is that of a reset connection
- START_GRACE_MS = 15_000
+ START_GRACE_MS = 1_200
restarted server: came back to a new server were ended

queue/maintenance/dead-pollers.ts: who has no lock on a server judges others there
- select from living_pollers() where number = poller_number(\${name}) limit 1
+ select
another server: has no lock there

poller/liveness.ts: a poller without its lock goes on sending
-  && atMs < this.#sureUntilMs
send without a lock: sent without the lock

poller/liveness.ts: a poller is sure of its lock for longer than others wait
- SURE_MS = GRACE_MS - 150
+ SURE_MS = GRACE_MS + 200
send without a lock: sent without the lock

poller/liveness.ts: what was claimed under one lock is sent under the next
- return term === this.#term && server
+ return server
send without a lock: sent without the lock
`);
