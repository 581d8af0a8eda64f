/** Says how to look into the databases of a test that failed, while the run lasts or KEEP_TEST_DATABASE keeps the server. */
import { afterEach } from 'vitest';
import { standing } from './database.ts';

afterEach(({ task }) => {
  if (task.result?.state !== 'fail') return;
  for (const url of standing) {
    process.stderr.write(`"${task.name}" failed; its database: psql '${url}?options=-csearch_path%3Dcarteiro'\n`);
  }
  if (standing.size > 0) process.stderr.write('KEEP_TEST_DATABASE=1 keeps it after the run\n');
});
