import { InvalidArgumentError } from 'commander';
import { readText } from '../arguments.ts';
import { command, option, optionOr } from '../command.ts';

function readPort(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new InvalidArgumentError('Give a port, 0 to 65535.');
  return port;
}

export const receive = command({
  summary: 'a small receiver for trying things out: prints each delivery it gets and answers 200',
  options: {
    port: optionOr('--port <port>', 'where to listen on 127.0.0.1', readPort, 4_000),
    secret: option(
      '--secret <secret>',
      'verify each signature with the secret that the webhook was created with',
      readText,
    ),
  },
  help: `
Output: each delivery as it comes, with its headers and body. Ctrl-C ends it.`,
  exits: { done: 'it was ended', refused: 'it cannot listen there', outOfReach: null },
  async run({ port, secret }, { print }) {
    const { printDeliveries } = await import('../../listen/receive.ts');
    await printDeliveries({ port, secret: secret ?? null, print });
  },
});
