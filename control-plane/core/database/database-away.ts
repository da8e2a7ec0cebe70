/** The database is not available at the moment; the caller can try again. */
export class DatabaseAway extends Error {
  override readonly name = "DatabaseAway";
}

// Node's socket errors. They are from the database only if postgres.js has attached its statement to them.
const SOCKET_CODES = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "ENOENT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
]);

// Error codes of postgres.js for a missing connection.
const CONNECTION_CODES = new Set(["CONNECT_TIMEOUT", "CONNECTION_CLOSED", "CONNECTION_ENDED", "CONNECTION_DESTROYED"]);

// PostgreSQL, appendix A: 08 connection exception, 53 insufficient resources, 57014 statement over its time limit,
// 57P shutdown and start-up, 25006 read-only: a standby that was the primary a moment ago.
const SERVER_CODES = /^(?:08...|53...|57014|57P..|25006)$/;

/** Reports whether an error means that the database is away, as opposed to a wrong statement. */
export function isDatabaseAway(error: unknown): boolean {
  if (error instanceof DatabaseAway) return true;
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return false;
  if (CONNECTION_CODES.has(error.code)) return true;
  if (SOCKET_CODES.has(error.code)) return "query" in error;
  return "severity" in error && SERVER_CODES.test(error.code);
}
