/** The command line: reads which command is called, runs it, and says in one sentence why one could not be run. */
import { Command, CommanderError } from 'commander';
import { ConfigError, readConfig } from '../config.ts';
import { UntrustedServer } from '../db/connect/tls.ts';
import { isUnavailable } from '../db/unavailable.ts';
import { createLogger } from '../log-lines.ts';
import { addCommands } from './command-list.ts';
import { type CommandLine, EXIT, type ExitCode, OutOfReach, UsageError } from './command.ts';
import { reasonOf } from './reason.ts';
import { VERSION } from '../version.ts';

const line: CommandLine = {
  configure(...uses) {
    const config = readConfig(process.env, uses);
    return { config, log: createLogger(config.logLevel) };
  },
  print: (result) => void process.stdout.write(result.endsWith('\n') ? result : `${result}\n`),
};

/** Runs the command that `words` call; its exit code is the process's. */
export async function runCommandLine(words: readonly string[]): Promise<void> {
  const program = createProgram();
  try {
    await addCommands(program, line, words);
    await program.parseAsync(words, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) {
      // It has said what is wrong, or has shown the help that was asked for.
      process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.usage;
    } else {
      process.stderr.write(`${error instanceof ConfigError ? error.message : `carteiro: ${reasonOf(error)}`}\n`);
      process.exitCode = exitCodeOf(error);
    }
  }
}

function createProgram(): Command {
  return new Command('carteiro')
    .description('Partner webhooks that leave with the commit: API, poller and operator commands.')
    .version(VERSION, '-V, --version', 'print the version')
    .showHelpAfterError('Add --help for what this command takes.')
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(withoutValue(text)) })
    .addHelpText(
      'after',
      `
Environment (none is needed for an embedded sandbox; see src/main/README.md, "Configuration"):
  DATABASE_URL       a PostgreSQL 18 server; without it start runs an embedded one under DATA_DIR, and the others use that
  DATA_DIR           the embedded server's data and the sandbox's keys (default .data)
  PORT, HOST         where the API listens (3000, 127.0.0.1)
  METRICS_PORT       where poll (9464), and api and start if it is set, serve /metrics, /healthz and /readyz on HOST
  SANDBOX            true adds /v1/sandbox and the service's own tokens
  REGISTRY_URL       the bridge to the employment-data registry (a sandbox simulates one)
  LOG_LEVEL          fatal, error, warn, info, debug, trace or silent (info)

Signals (start, api, poll):
  SIGINT (Ctrl-C), SIGTERM, SIGHUP (a closed terminal) and SIGQUIT drain: no new work, what is in flight is finished.
  What follows within 1 s is the same signal. A later one leaves at once, with exit code 1: what is in flight is sent
  again when its lease ends. Either way start stops its embedded server.

Exit codes:
  0  done
  1  refused by the state of things, or something is not as it should be; the message says what and what to do
  2  the arguments or the environment cannot be used; nothing was tried
  3  the database is out of reach; nothing is half done, so run it again

Results go to standard output, everything else to standard error.
Run a command with:  npm run -s cli -- <command>`,
    );
}

/** Without what is refused, which commander repeats: it may be a secret, or a CPF with a typing mistake. */
function withoutValue(text: string): string {
  return text
    .replace(/^(error: (?:option '[^']*'|command-argument)) (?:argument|value) '[^]*' is invalid/, '$1 is invalid')
    .replace(/^(error: unknown option '[^=']*)=[^]*'/, "$1'")
    .replace(/^(error: too many arguments[^:]*): [^]*\./, '$1.');
}

function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof ConfigError || error instanceof UsageError) return EXIT.usage;
  if (error instanceof UntrustedServer) return EXIT.refused;
  return error instanceof OutOfReach || isUnavailable(error) ? EXIT.outOfReach : EXIT.refused;
}
