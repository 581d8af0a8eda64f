/** Orders to forget a worker, as an operator gives them. */

/** The number of a court's order, as courts write it: `0001234-56.2026.8.26.0100`. */
export const COURT_ORDER = /^[0-9][0-9./-]{0,38}[0-9]$/;
