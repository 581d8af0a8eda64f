/** Starts the recording receiver as a process of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../support/recording-receiver.ts', import.meta.url));

export async function startRecordingReceiver(file: string, seed: number, haste: boolean) {
  const child = spawn(process.execPath, [PROGRAM, file, String(seed), haste ? 'haste' : 'patience'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return {
    port: Number(line.toString()),
    /** Lets it write out what it has recorded and leave. */
    async finish() {
      child.stdin.end();
      await exited;
    },
  };
}
