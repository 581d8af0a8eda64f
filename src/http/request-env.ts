/** What travels with one request. */
export interface Env {
  Variables: {
    requestId: string;
    /** The matched route's pattern, `-` before there is one. */
    route: string;
    partnerId: string | null;
  };
}
