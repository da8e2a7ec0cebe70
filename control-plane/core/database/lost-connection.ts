import { isDatabaseAway } from "#control-plane/core/database/database-away.ts";

/** The innermost frame of postgres.js's deferred write, in both of its builds. */
const DEFERRED_WRITE = /^ {4}at Immediate\.nextWrite \(.*\/postgres\/(?:cjs\/)?src\/connection\.js:\d+:\d+\)$/;
/** A part of the statement that postgres.js itself sends on a new connection to learn the types of arrays. */
const ARRAY_TYPES = "left join pg_catalog.pg_type b on b.oid = a.typelem";

/**
 * Reports whether an uncaught error is one that postgres.js 3.4.9 leaves behind when a connection is reset. Callers learn
 * of the lost connection by their own statements, so the process can go on. There are two:
 *
 * 1. The library sends the rollback of a transaction to the connection after its socket has closed.
 * 2. Nothing handles the rejection of the statement that the library sends first on a new connection.
 */
export function isLeftByLostConnection(error: unknown): boolean {
  return isWriteAfterClose(error) || isLostFirstStatement(error);
}

function isWriteAfterClose(error: unknown): boolean {
  if (!(error instanceof TypeError) || error.message !== "Cannot read properties of null (reading 'write')")
    return false;
  const frame = error.stack?.split("\n")[1];
  return frame !== undefined && frame.length < 1_000 && DEFERRED_WRITE.test(frame);
}

function isLostFirstStatement(error: unknown): boolean {
  if (!isDatabaseAway(error) || !(error instanceof Error) || !("query" in error)) return false;
  return typeof error.query === "string" && error.query.includes(ARRAY_TYPES);
}
