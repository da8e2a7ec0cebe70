/** Why a body was cut short, as clauses for a sentence that starts with "The body was cut short". */
export const BODY_BREAKS = {
  incomplete: "the connection was closed before the end of the body",
  reset: "the server reset the connection or the stream",
  timeout: "the rest did not arrive in time",
  tls_error: "a TLS record could not be read, or the server sent an alert",
  protocol_error: "the server sent frames that are not HTTP/2",
} as const;

/** One of those reasons. */
export type BodyBreak = keyof typeof BODY_BREAKS;

/** Returns the reason why a body was cut short; null if its error is not one of these reasons. */
export function bodyBreakOf(error: string | null): BodyBreak | null {
  return error !== null && Object.hasOwn(BODY_BREAKS, error) ? (error as BodyBreak) : null;
}
