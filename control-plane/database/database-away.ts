/** The database cannot be asked at present; the caller may try again. */
export class DatabaseAway extends Error {
  override readonly name = "DatabaseAway";
}

// Node's socket errors; the database's only where postgres.js has hung its statement on them.
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

// postgres.js's own words for a connection that is not there.
const CONNECTION_CODES = new Set(["CONNECT_TIMEOUT", "CONNECTION_CLOSED", "CONNECTION_ENDED", "CONNECTION_DESTROYED"]);

// PostgreSQL, appendix A: 08 connection exception, 53 insufficient resources, 57014 a statement over its time limit,
// 57P shutdown and start-up, 25006 a standby that was the primary a moment ago.
const SERVER_CODES = /^(?:08...|53...|57014|57P..|25006)$/;

/** Whether an error says that the database is away, as opposed to a statement that is wrong. */
export function isDatabaseAway(error: unknown): boolean {
  if (error instanceof DatabaseAway) return true;
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return false;
  if (CONNECTION_CODES.has(error.code)) return true;
  if (SOCKET_CODES.has(error.code)) return "query" in error;
  return "severity" in error && SERVER_CODES.test(error.code);
}
