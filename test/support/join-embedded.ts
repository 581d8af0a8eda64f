/** A process of its own on an embedded server: prints the URL, and leaves when standard input ends. */
import { startEmbedded } from '../../src/db/embedded.ts';
import { createLogger } from '../../src/log-lines.ts';

const [dataDir = ''] = process.argv.slice(2);
const { url, leave } = await startEmbedded(dataDir, createLogger('warn'));
process.stdout.write(`${url}\n`);
process.stdin.resume();
process.stdin.once('end', () => void leave());
