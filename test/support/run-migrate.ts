/** `migrate` with another migrations folder, as a separate process: run-migrate.ts URL FOLDER. */
import { migrate } from '../../src/db/migrations/migrate.ts';
import { silentLog } from './silent-log.ts';

const [, , url = '', folder = ''] = process.argv;
await migrate(url, silentLog, { folder, pauseMs: 10 });
