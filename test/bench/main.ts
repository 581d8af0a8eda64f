/** `npm run bench`: measures the engine beside its peers, prints a table, and leaves with 1 when a bar does not hold. */
if (process.argv[2] === 'child') {
  const { runChild } = await import('./children.ts');
  await runChild(process.argv[3] ?? '', JSON.parse(process.argv[4] ?? 'null'));
} else {
  const { main } = await import('./command.ts');
  process.exitCode = await main(process.argv);
}
