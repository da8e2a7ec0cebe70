import { hasErrorCode } from "#shared/error-code.ts";

/** A row with this key exists (PostgreSQL, appendix A). */
export const UNIQUE_VIOLATION = "23505";
/** The row that a new row refers to does not exist. */
const FOREIGN_KEY_VIOLATION = "23503";
/** There is no such table. */
export const UNDEFINED_TABLE = "42P01";

/** Whether a row could not be written because its account was erased after the request was let in. */
export function isAccountGone(error: unknown): boolean {
  const constraint = error instanceof Error && "constraint_name" in error ? error.constraint_name : null;
  return (
    hasErrorCode(error, FOREIGN_KEY_VIOLATION) &&
    typeof constraint === "string" &&
    constraint.endsWith("_account_id_fkey")
  );
}
