/** The largest value of PostgreSQL's type integer. As a time in milliseconds it is 24.8 days. */
export const MAX_INTEGER = 2_147_483_647;

/**
 * Returns a number as a column of type integer can store it: whole, and at most MAX_INTEGER. One number that does not fit
 * would make PostgreSQL refuse all rows of its statement.
 */
export function toInteger(value: number): number {
  return Math.min(Math.round(value), MAX_INTEGER);
}
