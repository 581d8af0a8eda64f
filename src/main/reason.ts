/** The text of an error for people: the failure, then each cause in the system's or PostgreSQL's own words. */

/** The limit of causes in a text; an error may be its own cause. */
const MAX_CAUSES = 5;

/** The message of `error`, then `because: …` in a line of its own for each cause that says something new. */
export function reasonOf(error: unknown): string {
  const said: string[] = [];
  for (let next = error, depth = 0; next !== undefined && next !== null && depth < MAX_CAUSES; depth += 1) {
    const message = messageOf(next);
    if (message !== '' && !said.some((before) => before.includes(message))) said.push(message);
    next = (next as { cause?: unknown }).cause;
  }
  return said.join('\n  because: ');
}

/** Node's error of a name with several addresses has no message; a program's is its command line with its output. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') {
    return (error.errors as unknown[]).map(messageOf).join('; ');
  }
  const { message = String(error) } = error as { message?: string };
  return message.startsWith('Command failed:') ? '' : message;
}
