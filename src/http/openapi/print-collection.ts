/**
 * `npm run -s collection`: prints the collection of every route. The routes are made without a database or keys, because only
 * their description is read.
 */
import { parseArgs } from 'node:util';
import type { HttpDeps } from '../deps.ts';
import { describeCollection, type Description } from './collection.ts';

const USAGE = `npm run -s collection -- [--url URL] [--production] > carteiro.json

Prints a Postman collection, which Bruno and Insomnia import too.
  --url URL      where the API is served (http://127.0.0.1:3000)
  --production   leaves the sandbox's routes out
`;

const options = { url: { type: 'string' }, production: { type: 'boolean' }, help: { type: 'boolean' } } as const;

async function readDescription(sandbox: boolean): Promise<Description> {
  // Imported here, so that wrong arguments are told at once.
  const { createLogger } = await import('../../log-lines.ts');
  const { createMetrics } = await import('../../metrics.ts');
  const { createApp } = await import('../app.ts');
  const { addSandbox } = await import('../routes/sandbox.ts');
  const log = createLogger('silent');
  const added = sandbox ? addSandbox : null;
  const deps = {
    log,
    metrics: createMetrics(),
    sandbox: added,
    allowInsecure: sandbox,
    rateLimitPerMinute: 0,
    tokens: {},
  };
  const answer = await createApp(deps as unknown as HttpDeps).request('/openapi.json');
  return (await answer.json()) as Description;
}

/** Null, with the usage on standard error, when the arguments are wrong: the exit code of wrong usage is 2, as in every command. */
function readArguments() {
  try {
    const { url = 'http://127.0.0.1:3000', production = false, help = false } = parseArgs({ options }).values;
    if (!/^https?:/.test(url) || !URL.canParse(url)) throw new Error(`--url: ${url} is no http URL`);
    return { url: url.replace(/\/$/, ''), production, help };
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n${USAGE}`);
    return null;
  }
}

const given = readArguments();
if (given === null) process.exitCode = 2;
else if (given.help) process.stdout.write(USAGE);
else {
  const collection = describeCollection(await readDescription(!given.production), given.url);
  process.stdout.write(`${JSON.stringify(collection, null, 2)}\n`);
}
