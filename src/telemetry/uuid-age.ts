/** Seconds from the delivery's append, by its UUIDv7, to `at`, both on the database's clock; not below 0. */
export function ageS(deliveryId: string, at: Date): number {
  const madeMs = Number.parseInt(deliveryId.slice(0, 8) + deliveryId.slice(9, 13), 16);
  return Math.max(0, at.getTime() - madeMs) / 1_000;
}
