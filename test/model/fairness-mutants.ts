/** Mutants of the rules that leave slots to others. */
import { readMutants } from './read-mutants.ts';

export const FAIRNESS_MUTANTS = readMutants(String.raw`
queue/lanes/poll-plan.ts: a partner has no share of a poller’s slots
- const room = Math.min(wanted, this.#shares.room(lane.settings.partnerId));
+ const room = wanted;
share of a partner: took every slot|was not served|has its share

queue/slots.ts: no slots are kept for partners that hold few
- const RESERVE = 1 / 8
+ const RESERVE = 0
share of a partner: took every slot|was not served|has its share

queue/slots.ts: a claim is not told who holds many slots
- filter(([, held]) => held >= MANY)
+ filter(([, held]) => held > 1_000)
share of a partner: took every slot|was not served|has its share

queue/slots.ts: slots that came free are still counted as their partner’s
- (this.#byPartner.get(partnerId) ?? 0) - 1
+ (this.#byPartner.get(partnerId) ?? 0)
share of a partner: of 52 slots

queue/answers.ts: a record does not say that there was no answer
- isSilent: isSilent || result.statusCode === null,
+ isSilent,
silent webhook: in flight to a webhook that does not answer

queue/window.ts: a lane does not hear that there was no answer
-   if (isSilent) return
+ if (isSilent && false) return
silent webhook: in flight to a webhook that does not answer
`);
