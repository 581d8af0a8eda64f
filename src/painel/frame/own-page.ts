/** A page of this host's own, to go back to; nothing that a browser could take for another host. */
const OWN_PAGE = /^\/(?:painel|docs)(?:[/?][\w\-./?=&%~:+,]*)?$/;
const MAX_LENGTH = 2_000;

/** `given` when it is one of the page's addresses, else its start. */
export function ownPage(given: string | null | undefined): string {
  return typeof given === 'string' && given.length <= MAX_LENGTH && OWN_PAGE.test(given) ? given : '/painel';
}
