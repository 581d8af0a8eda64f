/** What is wrong with a month's files, manifest or acts, or why their place cannot be used; in words for operators. */
export class ArchiveFault extends Error {
  override name = 'ArchiveFault';
}
