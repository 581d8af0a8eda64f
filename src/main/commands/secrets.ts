import type { Pool } from '../../db/pool.ts';
import { actorOf } from '../../admin/author.ts';
import { isKeyRetired, retireKeys } from '../../webhooks/encryption-keys.ts';
import { resealAll } from '../../webhooks/reseal.ts';
import { findLostSecrets, replaceSecret } from '../../webhooks/secret-changes.ts';
import { createVault, keyIdOf } from '../../webhooks/secrets.ts';
import { readUuid } from '../arguments.ts';
import { command, EXIT, flag, Refusal, UsageError, type Group } from '../command.ts';
import { readProcesses } from '../operations/heartbeat.ts';
import { author, json, refuseNowhere, requiredReason, operate, printResult } from '../operator.ts';
import { orRefuse } from '../refused.ts';
import { readSecretsKeys } from '../service/key-files.ts';
import { table } from '../table.ts';

const replace = command({
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
    const vault = createVault(await readSecretsKeys(config));
    const done: { webhook: string; secret: string; previousUntil: Date | null }[] = [];
    const tellThem = (none: string) => {
      const text = table(done, ['webhook', 'secret']);
      printResult(line, json, done, text === '' ? none : text);
    };
    const work = async (pool: Pool): Promise<void> => {
      if (await pool.run((sql) => isKeyRetired(sql, vault)))
        throw new Refusal(`SECRETS_KEY begins with the retired key ${vault.keyId}: put the new one in front`);
      for (const id of webhook === undefined ? await findLostSecrets(pool, vault) : [webhook]) {
        const operator = { actor: actorOf(author), reason };
        done.push({
          webhook: id,
          ...orRefuse(await pool.transaction((tx) => replaceSecret(tx, vault, id, operator)), 'webhook', id),
        });
      }
    };
    await operate(line, work).catch((error: unknown) => {
      // Each is in force, and nobody can show it again.
      if (done.length > 0) tellThem('');
      throw error;
    });
    tellThem('SECRETS_KEY opens every secret: none was replaced');
  },
});

const reseal = command({
  summary: 'encrypt every signing secret again with the first key of SECRETS_KEY, and retire the others',
  options: { author, json },
  help: `
To replace a key, one that leaked, say:

  1. SECRETS_KEY=<new>,<old> for every api, poll and start, and restart them: all open both, and encrypt with the new one
  2. SECRETS_KEY=<new>,<old>  npm run -s cli -- secrets reseal
  3. SECRETS_KEY=<new> everywhere, and restart them

It may run beside everything else, and more than once: killed, it goes on where it stopped. Partners' secrets stay the same.
When nothing is left under the old keys they are retired: a process that has only an old key, or has it in front, is refused
at its start. While an api or a poll lives that has another key in front, nothing is done, and it is named. The answer that showed a new secret cannot be repeated with it across this (an Idempotency-Key's 60 s).

Output: a sentence; with --json {"webhooks": 1200, "unopened": [], "key": "1a2b3c4d", "retired": ["5e6f7a8b"]}; unopened holds
the webhooks whose secret no key of SECRETS_KEY opens.`,
  exits: {
    done: 'every secret is under the first key, and the others are retired',
    refused:
      'a living process has another key in front; or some secrets cannot be opened and were left; no key was retired',
  },
  async run({ author, json }, line) {
    const { config } = line.configure('secrets');
    // Before the keys are read, which makes a sandbox's own.
    refuseNowhere(config);
    const keys = await readSecretsKeys(config);
    const [newestKeyId = '', ...olderIds] = keys.map(keyIdOf);
    if (olderIds.includes(newestKeyId)) throw new UsageError('SECRETS_KEY: has the same key twice');
    const vault = createVault(keys);
    const { webhooks, unopened } = await operate(line, async (pool, { progress }) => {
      if (await pool.run((sql) => isKeyRetired(sql, vault)))
        throw new Refusal(`SECRETS_KEY begins with the retired key ${newestKeyId}: put the new one in front`);
      const others = (await pool.run(readProcesses)).filter(({ isAlive, keys }) => isAlive && keys[0] !== newestKeyId);
      if (others.length > 0) {
        const who = others.map(({ role, name, keys }) => `${role} ${name} (${keys.join(', ')})`).join('; ');
        throw new Refusal(
          `these processes encrypt with another key than ${newestKeyId}, so restart them with it in front: ${who}`,
        );
      }
      const onProgress = (webhooks: number) => progress.show(`${webhooks} webhooks encrypted again`);
      const done = await resealAll(pool, { vault, newestKeyId, onProgress });
      if (done.unopened.length === 0) await pool.transaction((tx) => retireKeys(tx, olderIds, actorOf(author)));
      return done;
    });
    const isGood = unopened.length === 0;
    const rest = isGood
      ? olderIds.length > 0
        ? `; take ${olderIds.join(', ')} out of SECRETS_KEY now`
        : ''
      : `; the secrets of ${unopened.length} webhooks cannot be opened: add the key that encrypted them, and run it again`;
    const result = { webhooks, unopened, key: newestKeyId, retired: isGood ? olderIds : [] };
    printResult(line, json, result, `${webhooks} webhooks are encrypted again, under key ${newestKeyId}${rest}`);
    return isGood ? EXIT.done : EXIT.refused;
  },
});

export const secrets: Group = {
  about: 'signing secrets, and the keys that encrypt them',
  commands: { replace, reseal },
};
