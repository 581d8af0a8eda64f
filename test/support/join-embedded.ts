/** A separate process that owns an embedded server: it prints the URL, and exits when standard input ends. */
import { startEmbedded } from '../../src/db/embedded/embedded.ts';
import { createLogger } from '../../src/log-lines.ts';

const [dataDir = ''] = process.argv.slice(2);
const { url, leave } = await startEmbedded(dataDir, createLogger('warn'));
process.stdout.write(`${url}\n`);
process.stdin.resume();
process.stdin.once('end', () => void leave());
