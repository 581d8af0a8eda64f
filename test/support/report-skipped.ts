/**
 * What was skipped on this machine, as one list at the end, each test with its reason: the note of `context.skip(note)`, or
 * the lines `skipped: …` of its file, which vitest.config.ts keeps from being printed where they are written.
 */
import type { Reporter, TestModule, Vitest } from 'vitest/node';

type ConsoleLog = Parameters<NonNullable<Reporter['onUserConsoleLog']>>[0];

export const SKIPPED = 'skipped: ';

export default class ReportSkipped implements Reporter {
  readonly #reasons = new Map<string, Set<string>>();
  #vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onUserConsoleLog({ content, taskId }: ConsoleLog): void {
    const file = this.#vitest?.state.idMap.get(taskId ?? '')?.file.name ?? 'elsewhere';
    for (const line of content.split('\n')) {
      if (!line.startsWith(SKIPPED)) continue;
      const reasons = this.#reasons.get(file) ?? new Set();
      this.#reasons.set(file, reasons.add(line.slice(SKIPPED.length)));
    }
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const skipped = modules.flatMap((module) =>
      [...module.children.allTests('skipped')].map((test) => {
        const reason = noteOf(test.result()) ?? [...(this.#reasons.get(module.relativeModuleId) ?? [])].join('; ');
        return `  ${module.relativeModuleId} > ${test.fullName}${reason === '' ? '' : `: ${reason}`}`;
      }),
    );
    const elsewhere = [...(this.#reasons.get('elsewhere') ?? [])].map((reason) => `  ${reason}`);
    if (skipped.length > 0)
      process.stdout.write(
        `\nskipped on this machine (${skipped.length}):\n${[...skipped, ...elsewhere].join('\n')}\n`,
      );
  }
}

function noteOf(result: object): string | undefined {
  return 'note' in result && typeof result.note === 'string' ? result.note : undefined;
}
