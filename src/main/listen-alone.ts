/** `listen` as a program of its own, for Node alone. make-listen.ts makes GET /ferramentas/listen.mjs of it and its imports. */
import { Command, CommanderError } from 'commander';
import { VERSION } from '../version.ts';
import { addCommand, type CommandLine, EXIT, OutOfReach, UsageError } from './command.ts';
import { listen } from './commands/listen.ts';
import { reasonOf } from './reason.ts';

const line: CommandLine = {
  configure: () => {
    throw new Error('listen reads no configuration');
  },
  print: (result) => void process.stdout.write(`${result}\n`),
};
const program = new Command('listen').version(VERSION, '-V, --version', 'print the version').exitOverride();
addCommand(program, 'listen', listen, line);
try {
  await program.parseAsync(['listen', ...process.argv.slice(2)], { from: 'user' });
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.usage;
  else {
    process.stderr.write(`carteiro: ${reasonOf(error)}\n`);
    process.exitCode =
      error instanceof UsageError ? EXIT.usage : error instanceof OutOfReach ? EXIT.outOfReach : EXIT.refused;
  }
}
