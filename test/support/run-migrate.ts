/** `migrate` with a folder of its own, as a process: run-migrate.ts URL FOLDER. */
import { migrate } from '../../src/db/migrate.ts';
import { silentLog } from './silent-log.ts';

const [, , url = '', folder = ''] = process.argv;
await migrate(url, silentLog, { folder, pauseMs: 10 });
