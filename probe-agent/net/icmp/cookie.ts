/** Number of octets at the start of each echo payload that identify the run. */
export const COOKIE_BYTES = 8;

/** Reports whether an echo reply contains the cookie of a run. */
export function carriesCookie(payload: Buffer, cookie: Buffer): boolean {
  return payload.subarray(0, COOKIE_BYTES).equals(cookie);
}

/** Reports whether the payload quoted by an error matches the cookie. Routers often quote only part of it, or none. */
export function matchesCookie(quoted: Buffer, cookie: Buffer): boolean {
  const length = Math.min(COOKIE_BYTES, quoted.length);
  return quoted.subarray(0, length).equals(cookie.subarray(0, length));
}
