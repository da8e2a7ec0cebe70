/** Why a body ended before its end, in words for a sentence: what follows "The body was cut short". */
export const BODY_BREAKS = {
  incomplete: "the connection was closed before the end of the body",
  reset: "the server reset the connection or the stream",
  timeout: "the rest did not come in time",
  tls_error: "a TLS record could not be read, or the server sent an alert",
  protocol_error: "the server sent frames that are not HTTP/2",
} as const;

/** One of those reasons. */
export type BodyBreak = keyof typeof BODY_BREAKS;

/** The reason a body's error gives for its being cut short; null where it gives none. */
export function bodyBreakOf(error: string | null): BodyBreak | null {
  return error !== null && Object.hasOwn(BODY_BREAKS, error) ? (error as BodyBreak) : null;
}
