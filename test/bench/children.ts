/** What `main.ts child <role>` runs; each role loads only what it needs. */
export async function runChild(role: string, argument: unknown): Promise<void> {
  switch (role) {
    case 'receiver':
      return (await import('./harness/receiver-process.ts')).run();
    case 'graphile':
      return (await import('./peers/graphile-process.ts')).run(argument as never);
    case 'pgboss':
      return (await import('./peers/pgboss-process.ts')).run(argument as never);
    case 'loop':
      return (await import('./peers/loop-process.ts')).run(argument as never);
    case 'bare':
      return (await import('./peers/bare-process.ts')).run(argument as never);
    default:
      throw new Error(`no child ${role}`);
  }
}
