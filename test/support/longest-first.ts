/** Starts the files that take longest first, so that no worker is left alone with one at the end. */
import { relative, sep } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Those that take over 10 s on two cores with four workers; the order of the others hardly matters. */
const LONGEST = [
  'test/painel/browser.db.test.ts',
  'test/audit/falsifications.db.test.ts',
  'test/main/start.db.test.ts',
  'test/http/receivers.db.test.ts',
  'test/audit/seal.db.test.ts',
  'test/archive/archive.db.test.ts',
  'test/archive/years.db.test.ts',
  'test/listen/listen.db.test.ts',
  'test/db/embedded.db.test.ts',
  'test/core/loan-lives.db.test.ts',
  'test/main/installation.db.test.ts',
  'test/main/failing-policy.db.test.ts',
  'test/audit/verifiers.db.test.ts',
  'test/http/keys-remote.db.test.ts',
  'test/main/reports.db.test.ts',
  'test/db/neighbour.db.test.ts',
  // Of the long ones:
  'test/model/mutants.db.test.ts',
  'test/db/killed-upgrade.db.test.ts',
  'test/chaos/chaos.test.ts',
  'test/chaos/two-releases.test.ts',
  'test/main/terminal.db.test.ts',
  'test/delivery/poller/hostile-poller.db.test.ts',
  'test/db/moved-database.db.test.ts',
  'test/db/running-system.db.test.ts',
  'test/delivery/sending/hostile-receivers.test.ts',
  'test/chaos/sigterm.db.test.ts',
  'test/chaos/hosts.test.ts',
  'test/chaos/failover.test.ts',
  'test/main/unfit-database.db.test.ts',
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const places = new Map(LONGEST.map((file, place) => [file, place]));
    const placeOf = ({ moduleId, project }: TestSpecification): number =>
      places.get(relative(project.config.root, moduleId).split(sep).join('/')) ?? LONGEST.length;
    return (await super.sort(files)).sort((one, other) => placeOf(one) - placeOf(other));
  }
}
