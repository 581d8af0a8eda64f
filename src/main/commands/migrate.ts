import { command } from '../command.ts';

export const migrate = command({
  summary: 'apply pending migrations, then exit; safe to run from several machines at once',
  help: `
Waits for nobody longer than 2 s at a time, so it may run beside everything else. Uses DIRECT_DATABASE_URL where that is
set. Needs a login that is a member of carteiro_owner, or one that may make schemas and roles.

Output: migrated`,
  exits: {
    done: 'nothing is pending any more',
    refused: 'a migration could not be applied; it was rolled back, and those before it stay',
  },
  async run(_, { configure, print }) {
    const { config, log } = configure();
    const { migrateDatabase, openDatabase } = await import('../service/database.ts');
    const database = await openDatabase(config, log);
    try {
      if (!database.isEmbedded) await migrateDatabase(config, database.directUrl, log);
      print('migrated');
    } finally {
      await database.close();
    }
  },
});
