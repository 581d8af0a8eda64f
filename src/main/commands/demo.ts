import { command, EXIT } from '../command.ts';

export const demo = command({
  summary: 'show the whole product at work on free ports in a folder of its own; exits 0 only if all was seen',
  help: `
Walks a loan from issuance to disbursement on an embedded PostgreSQL, with a receiver that fails at first. Touches no
database of yours.`,
  exits: { done: 'all of it was seen', refused: 'something was not', outOfReach: null },
  async run(_, { print }) {
    const { demonstrate } = await import('../demonstrate.ts');
    return (await demonstrate(print)) ? EXIT.done : EXIT.refused;
  },
});
