/** The REST calls of the demonstration, as a partner makes them. */

export interface Client {
  /** Sends a request; throws, with the answer in its message, unless the status is the one expected. */
  call<T>(method: string, path: string, expected: number, body?: unknown, headers?: Record<string, string>): Promise<T>;
}

export function createClient(url: string, token: string): Client {
  return {
    async call<T>(method: string, path: string, expected: number, body?: unknown, headers = {}): Promise<T> {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (response.status !== expected) {
        throw new Error(`${method} ${path} answered ${response.status}, not ${expected}: ${text}`);
      }
      return JSON.parse(text) as T;
    },
  };
}
