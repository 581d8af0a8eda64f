import { command } from '../command.ts';
import { SERVE_EXITS, serve } from '../serve-command.ts';

export const poll = command({
  summary: 'deliver: run a poller; start as many as you like, anywhere',
  help: `
Takes due deliveries, up to POLLER_CAPACITY at a time, POSTs each to its webhook and records what became of it. It waits
for a database that is away. Needs the rights of carteiro_poller.`,
  exits: SERVE_EXITS,
  run: (_, line) => serve(line, ['poller']),
});
