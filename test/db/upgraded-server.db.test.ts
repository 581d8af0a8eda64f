/** pg_upgrade with PostgreSQL's own programs (18 to 18, which it permits), and words at each step between the server's start and `adopt`. */
import { execFile } from 'node:child_process';
import { appendFile, chown, cp, glob, mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test, type TestContext } from 'vitest';
import { chooseOwner } from '../../src/db/embedded/embedded-programs.ts';
import { readServerFault } from '../../src/db/known-server.ts';
import { migrate } from '../../src/db/migrations/migrate.ts';
import { adoptServer } from '../../src/main/commands/installation.ts';
import { connectTo } from '../support/connect.ts';
import { openPool } from '../support/database.ts';
import { endOf } from '../support/ends.ts';
import { freePorts } from '../support/free-ports.ts';
import { expectToGoOn, live, readOn } from '../support/lived-database.ts';
import { FAILED_DISBURSEMENT, LOAN } from '../support/payloads.ts';
import { startReceiver } from '../support/receiver.ts';
import { silentLog } from '../support/silent-log.ts';
import { makeTestFolder } from '../support/test-folder.ts';

const execute = promisify(execFile);
/** Where .ci/run puts the Python package embedded-postgres, which has all of PostgreSQL's programs. */
const INSTALLED = '.cache/carteiro-postgres/lib/python3*/site-packages/embedded_postgres';
const BIN = 'embedded_postgres/pginstall/bin';
const USER = ['-U', 'carteiro'];

async function findInstalled(): Promise<string | null> {
  for await (const found of glob(INSTALLED, { cwd: homedir() })) return path.join(homedir(), found);
  return null;
}

/** Servers in folders of their own, run by the programs of `installed` as whoever PostgreSQL allows. */
async function hostOf(installed: string) {
  const owner = await chooseOwner();
  const { path: home } = await makeTestFolder();
  // Its owner has to come in, and the installed programs may lie where nobody else may look.
  for (const folder of ['', '.libs'])
    await cp(`${installed}${folder}`, path.join(home, `embedded_postgres${folder}`), { recursive: true });
  const own = async (folder: string) => owner && chown(folder, owner.uid, owner.gid);
  await own(home);
  const run = (program: string, ...args: readonly string[]) =>
    execute(path.join(home, BIN, program), args, { cwd: home, env: { ...process.env, HOME: home }, ...owner });
  const [port = 0] = await freePorts(1);
  const at = (name: string) => path.join(home, name);
  const stop = async (name: string) => void (await run('pg_ctl', 'stop', '-D', at(name), '-m', 'fast', '-w'));
  return {
    at,
    run,
    stop,
    url: `postgres://carteiro@127.0.0.1:${port}/carteiro`,
    async make(name: string) {
      await mkdir(at(name));
      await own(at(name));
      await run('initdb', '-D', at(name), ...USER, '--auth=trust', '--encoding=UTF8', '--locale=C.UTF-8');
      const lines = {
        port,
        listen_addresses: '127.0.0.1',
        unix_socket_directories: home,
        fsync: 'off',
        'carteiro.allow_fsync_off': 'on',
      };
      await appendFile(
        path.join(at(name), 'postgresql.conf'),
        Object.entries(lines)
          .map(([key, value]) => `${key} = '${value}'\n`)
          .join(''),
      );
    },
    async start(name: string) {
      await run('pg_ctl', 'start', '-D', at(name), '-w', '-l', at(`${name}.log`));
      endOf(() => stop(name).catch(() => undefined));
    },
  };
}

test('behind pg_upgrade an append says which command is missing, and after it all goes on', async (context: TestContext) => {
  const installed = await findInstalled();
  if (installed === null)
    context.skip('PostgreSQL’s programs are not in ~/.cache/carteiro-postgres (.ci/run has the command)');
  const receiver = await startReceiver();
  const host = await hostOf(installed);
  await host.make('old');
  await host.start('old');
  await host.run('createdb', ...USER, '-h', '127.0.0.1', '-p', new URL(host.url).port, 'carteiro');
  await migrate(host.url, silentLog);
  const [before, there] = [openPool(host.url), connectTo(host.url)];
  const lived = await live(before, there, receiver);
  const read = await readOn(before, lived.partnerId);
  await there`create role core_login login in role carteiro_core`;
  await before.close(1);
  await there.end({ timeout: 1 });
  await host.stop('old');

  await host.make('new');
  const bin = host.at(BIN);
  await host.run('pg_upgrade', ...USER, '-b', bin, '-B', bin, '-d', host.at('old'), '-D', host.at('new'), '-j', '2');
  await host.start('new');
  const [after, here] = [openPool(host.url), connectTo(host.url)];
  const core = connectTo(host.url.replace('carteiro@', 'core_login@'));
  const append = () => core`
    select fan_out from carteiro.append_event(${LOAN}, 0, 'desembolso.falhou', ${lived.partnerId}, ${FAILED_DISBURSEMENT}::text::json, 'core')`;
  expect(await after.run(readServerFault)).toBe('copy');
  await expect(append()).rejects.toMatchObject({
    code: 'CT503',
    message: 'this database is a copy: it was written on another server',
    hint: expect.stringContaining('run the command adopt') as string,
  });
  await migrate(host.url, silentLog);
  expect((await adoptServer(after, 'carteiro_owner')).summary).toMatchObject({ adopted: true });
  expect(await append()).toEqual([{ fan_out: 1 }]);
  await expectToGoOn(after, here, lived, read);
});
