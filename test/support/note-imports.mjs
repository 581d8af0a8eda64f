/** Given with `node --import`: appends the URL of each module that the process loads to the file NOTE_IMPORTS. */
import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

registerHooks({
  load(url, context, nextLoad) {
    appendFileSync(process.env.NOTE_IMPORTS, `${url}\n`);
    return nextLoad(url, context);
  },
});
