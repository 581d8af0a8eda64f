/** Temporary folders of test runs; the next run deletes those of a killed run. */
import { type HeldFolder, makeHeldFolder, sweepHeldFolders } from '../../src/db/embedded/held-folder.ts';

const PREFIX = 'carteiro-test-';

export type TestFolder = HeldFolder;

/** A folder with mode 0700 that may serve as a DATA_DIR. */
export function makeTestFolder(): Promise<TestFolder> {
  return makeHeldFolder(PREFIX);
}

/** Stops the servers and deletes the folders of runs that died. */
export function sweepDeadRuns(): Promise<void> {
  return sweepHeldFolders(PREFIX);
}
