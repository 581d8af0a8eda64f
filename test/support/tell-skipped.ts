/** What was skipped on this machine, as one list at the end. */
import type { Reporter, TestModule } from 'vitest/node';

export default class TellSkipped implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const skipped = modules.flatMap((module) =>
      [...module.children.allTests('skipped')].map(
        (test) => `  ${module.relativeModuleId} > ${test.fullName}${noteOf(test.result())}`,
      ),
    );
    if (skipped.length > 0)
      process.stdout.write(`\nskipped on this machine (${skipped.length}):\n${skipped.join('\n')}\n`);
  }
}

function noteOf(result: object): string {
  return 'note' in result && typeof result.note === 'string' ? `: ${result.note}` : '';
}
