/** Temporary folders of test runs; what a killed run leaves, the next one sweeps. */
import { type HeldFolder, makeHeldFolder, sweepHeldFolders } from '../../src/db/held-folder.ts';

const PREFIX = 'carteiro-test-';

export type TestFolder = HeldFolder;

/** A folder with mode 0700 that may serve as a DATA_DIR. */
export function makeTestFolder(): Promise<TestFolder> {
  return makeHeldFolder(PREFIX);
}

/** Stops and deletes what dead runs left behind. */
export function sweepDeadRuns(): Promise<void> {
  return sweepHeldFolders(PREFIX);
}
