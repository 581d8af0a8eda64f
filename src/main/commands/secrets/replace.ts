import { readUuid } from '../../arguments.ts';
import { command, flag, Refusal, UsageError } from '../../command.ts';
import { actorOf } from '../../../steering/author.ts';
import { author, json, refuseNowhere, requiredReason, rowsOr, steer, tell } from '../../operator.ts';
import { orRefuse } from '../../refused.ts';
import { table } from '../../table.ts';

export const replace = command({
  summary: 'give webhooks new signing secrets, where the key of the old ones is lost',
  takes: {
    webhook: {
      about: 'its id; or --all',
      read: (text: string): string | undefined => readUuid(text),
      isOptional: true,
    },
  },
  options: {
    all: flag('--all', 'every webhook whose secret no key of SECRETS_KEY opens'),
    reason: requiredReason,
    author,
    json,
  },
  help: `
For a SECRETS_KEY that is lost: api and poll refuse to start where it opens none of the stored secrets. This command makes new
secrets under its first key, each with a line of the webhook's history, and prints them: nobody can show them again, so give each
to its partner over a safe way. Deliveries that waited go on by themselves within a minute. Where the old secret can be opened it
signs beside the new one for 24 hours, as after a rotation.

Output: a table of webhook and secret; with --json [{"webhook": "0199…", "secret": "whsec_…", "previousUntil": null}].`,
  exits: {
    done: 'the new secrets were printed',
    refused: 'there is no such webhook, or SECRETS_KEY begins with a retired key; nothing was changed',
  },
  async run({ webhook, all, reason, author, json }, line) {
    if ((webhook === undefined) !== all) throw new UsageError('name a webhook, or say --all: one of both');
    const { config } = line.configure('secrets');
    refuseNowhere(config);
    const { createVault } = await import('../../../webhooks/secrets.ts');
    const { findLostSecrets, replaceSecret } = await import('../../../webhooks/secret-changes.ts');
    const { isKeyRetired } = await import('../../../webhooks/encryption-keys.ts');
    const { readSecretsKeys } = await import('../../service/key-files.ts');
    const vault = createVault(await readSecretsKeys(config));
    const replaced = await steer(line, async (pool) => {
      if (await pool.run((sql) => isKeyRetired(sql, vault)))
        throw new Refusal(`SECRETS_KEY begins with the retired key ${vault.keyId}: put the new one in front`);
      const done: { webhook: string; secret: string; previousUntil: Date | null }[] = [];
      for (const id of webhook === undefined ? await findLostSecrets(pool, vault) : [webhook]) {
        const operator = { actor: actorOf(author), reason };
        done.push({
          webhook: id,
          ...orRefuse(await pool.transaction((tx) => replaceSecret(tx, vault, id, operator)), 'webhook', id),
        });
      }
      return done;
    });
    const shown = (rows: readonly { webhook: string; secret: string }[]) =>
      table(rows.map(({ webhook, secret }) => ({ webhook, secret })));
    tell(line, json, replaced, rowsOr(replaced, shown, 'SECRETS_KEY opens every secret: none was replaced'));
  },
});
