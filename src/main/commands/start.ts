import { command } from '../command.ts';
import { SERVE_EXITS, serve } from '../serve-command.ts';

export const start = command({
  summary: 'serve API and poller in one process; prints how to go on (this is npm start)',
  help: `
Migrates the database, makes a sandbox partner if there is none, serves the API and delivers. Without DATABASE_URL it
starts an embedded PostgreSQL under DATA_DIR, which the last process out stops.`,
  exits: SERVE_EXITS,
  run: (_, line) => serve(line, ['api', 'poller'], line.print),
});
