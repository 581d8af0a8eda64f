/** The driver cuts the host of a URL at its first colon, so an IPv6 address is given to it beside the URL. */

const DEFAULT_PORT = 5_432;

/**
 * What to tell the driver beside `url`: host and port when the URL has an IPv6 address, else nothing. They are lists, which
 * the driver takes as they are, though its types know only the text that it would cut.
 */
export function ipv6Host(url: string): { host?: string; port?: number } {
  if (!URL.canParse(url)) return {};
  const { hostname, port } = new URL(url);
  if (!hostname.startsWith('[')) return {};
  const given = { host: [hostname.slice(1, -1)], port: [Number(port || DEFAULT_PORT)] };
  return given as unknown as { host: string; port: number };
}
