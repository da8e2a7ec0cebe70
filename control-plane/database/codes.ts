/** A row with this key exists (PostgreSQL, appendix A). */
export const UNIQUE_VIOLATION = "23505";
/** There is no such table. */
export const UNDEFINED_TABLE = "42P01";

/** Whether an error is PostgreSQL's with this SQLSTATE. */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
