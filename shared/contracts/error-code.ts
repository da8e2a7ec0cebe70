/** Reports whether an error has this code: an errno of Node ("ENOENT") or an SQLSTATE of PostgreSQL ("23505"). */
export function hasErrorCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

/** Returns the code of an error ("EACCES"), else its message. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return "code" in error && typeof error.code === "string" ? error.code : error.message;
}
