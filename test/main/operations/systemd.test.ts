/** What systemd hears from a process: ready once, and that it lives while its event loop turns. */
import { chmod, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { notifySystemd } from '../../../src/main/operations/systemd.ts';
import { silentLog } from '../../support/silent-log.ts';
import { makeTestFolder } from '../../support/test-folder.ts';

test('tells that it is ready and that it lives, and nothing where no service manager waits', async () => {
  const folder = await makeTestFolder();
  const [program, said] = [path.join(folder.path, 'systemd-notify'), path.join(folder.path, 'said')];
  await writeFile(program, `#!/bin/sh\necho "$1" >> ${said}\n`);
  await chmod(program, 0o755);
  const before = process.env['PATH'];
  process.env['PATH'] = `${folder.path}:${before}`;
  try {
    notifySystemd({}, silentLog)();
    const quiet = notifySystemd({ NOTIFY_SOCKET: '/run/x', WATCHDOG_USEC: '20000' }, silentLog);
    await expect.poll(() => readFile(said, 'utf8').catch(() => '')).toMatch(/WATCHDOG=1\n[^]*WATCHDOG=1\n/);
    quiet();
    expect((await readFile(said, 'utf8')).match(/READY=1/g)).toHaveLength(1);
  } finally {
    process.env['PATH'] = before;
  }
});
