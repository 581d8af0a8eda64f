/** Where a run keeps its temporary folders, with the data of its servers. */
import { accessSync, constants, readFileSync, statfsSync } from 'node:fs';

const FOLDER = '/dev/shm';
/** A whole run takes less than 3 GiB there. */
const ROOM_BYTES = 6 * 1_073_741_824;

/**
 * A folder in memory that has room and from which programs may be started; null where there is none. A new database takes
 * 15 ms there, and up to 400 ms on a disk.
 */
export function memoryFolder(): string | null {
  try {
    const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n');
    const [, , type, options] = mounts.map((line) => line.split(' ')).findLast(([, at]) => at === FOLDER) ?? [];
    if (type !== 'tmpfs' || options === undefined || options.split(',').includes('noexec')) return null;
    accessSync(FOLDER, constants.W_OK);
    const { bavail, bsize } = statfsSync(FOLDER);
    return Math.min(bavail * bsize, process.availableMemory()) < ROOM_BYTES ? null : FOLDER;
  } catch {
    return null;
  }
}
