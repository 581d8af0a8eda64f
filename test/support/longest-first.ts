/** Starts the files that take longest first, so that no worker is left alone with one at the end. */
import { relative, sep } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** All over 8 s on two cores with four workers, longest first. */
const LONGEST = [
  'test/model/mutants.db.test.ts',
  'test/db/killed-upgrade.db.test.ts',
  'test/chaos/chaos.test.ts',
  'test/chaos/two-releases.test.ts',
  'test/painel/browser.db.test.ts',
  'test/main/steering.db.test.ts',
  'test/http/forged-cursors.db.test.ts',
  'test/painel/lists.db.test.ts',
  'test/audit/falsifications.db.test.ts',
  'test/main/doctor.db.test.ts',
  'test/main/auditor-login.db.test.ts',
  'test/steering/queue.db.test.ts',
  'test/audit/checkpoint-header.db.test.ts',
  'test/main/queue-status.db.test.ts',
  'test/main/import.db.test.ts',
  'test/http/receiver-vectors.test.ts',
  'test/db/embedded.db.test.ts',
  'test/main/no-registry.db.test.ts',
  'test/main/drain.db.test.ts',
  'test/listen/listen.db.test.ts',
  'test/log/core-readme.db.test.ts',
  'test/main/terminal.db.test.ts',
  'test/delivery/poller/hostile-poller.db.test.ts',
  'test/db/moved-database.db.test.ts',
  'test/db/running-system.db.test.ts',
  'test/delivery/sending/hostile-receivers.test.ts',
  'test/painel/webhooks.db.test.ts',
  'test/main/start.db.test.ts',
  'test/chaos/sigterm.db.test.ts',
  'test/model/differential.db.test.ts',
  'test/chaos/hosts.test.ts',
  'test/chaos/failover.test.ts',
  'test/main/unfit-database.db.test.ts',
  'test/main/audit.db.test.ts',
  'test/main/moved-server.db.test.ts',
  'test/delivery/poller/processes.db.test.ts',
  'test/http/keys-remote.db.test.ts',
  'test/bench/bench.test.ts',
  'test/main/installation.db.test.ts',
  'test/main/reseal.db.test.ts',
  'test/chaos/recovery.test.ts',
  'test/main/deploy/image.db.test.ts',
  'test/main/deploy/compose.db.test.ts',
  'test/main/deploy/systemd.db.test.ts',
  'test/db/embedded-hosts.db.test.ts',
  'test/main/jobs.db.test.ts',
  'test/db/pool.db.test.ts',
  'test/chaos/full-disk.test.ts',
  'test/audit/balance.db.test.ts',
  'test/audit/seal.db.test.ts',
  'test/chaos/clock.db.test.ts',
  'test/http/valid-requests.db.test.ts',
  'test/main/failing-policy.db.test.ts',
  'test/main/operations/port.db.test.ts',
  'test/delivery/poller/outage.db.test.ts',
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const places = new Map(LONGEST.map((file, place) => [file, place]));
    const placeOf = ({ moduleId, project }: TestSpecification): number =>
      places.get(relative(project.config.root, moduleId).split(sep).join('/')) ?? LONGEST.length;
    return (await super.sort(files)).sort((one, other) => placeOf(one) - placeOf(other));
  }
}
