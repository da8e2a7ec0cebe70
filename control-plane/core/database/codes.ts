import { hasErrorCode } from "#shared/contracts/error-code.ts";

/** Error code: a row with this key exists (PostgreSQL, appendix A). */
export const UNIQUE_VIOLATION = "23505";
/** Error code: the row that a new row refers to does not exist. */
const FOREIGN_KEY_VIOLATION = "23503";
/** Error code: there is no such table. */
export const UNDEFINED_TABLE = "42P01";
/** Error code: a lock was not got within lock_timeout. */
export const LOCK_NOT_AVAILABLE = "55P03";
/** Error code: transactions wait for each other, and this one was ended. */
export const DEADLOCK_DETECTED = "40P01";

/** Reports whether a row was not written because its account was erased after the request was admitted. */
export function isAccountGone(error: unknown): boolean {
  const constraint = error instanceof Error && "constraint_name" in error ? error.constraint_name : null;
  return (
    hasErrorCode(error, FOREIGN_KEY_VIOLATION) &&
    typeof constraint === "string" &&
    constraint.endsWith("_account_id_fkey")
  );
}
