import { command } from '../command.ts';
import { SERVE_EXITS, serve } from '../serve-command.ts';

export const api = command({
  summary: 'serve the API, and ask the registry for registrations',
  help: `
Answers 503 while the database is away. Needs the rights of carteiro_app. Start as many as you like: one of them projects
and one seals at a time.`,
  exits: SERVE_EXITS,
  run: (_, line) => serve(line, ['api']),
});
