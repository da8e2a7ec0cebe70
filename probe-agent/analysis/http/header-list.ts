/** A header as it came; repeats are entries of their own. */
export type HeaderPair = readonly [name: string, value: string];

/** All values of a header, in order. `name` in lower case. */
export function headerValues(headers: readonly HeaderPair[], name: string): string[] {
  return headers.filter(([one]) => one.toLowerCase() === name).map(([, value]) => value);
}

/** The values of a header as one, joined by ", " as recipients do (RFC 9110 section 5.3); null where absent. */
export function joinedHeader(headers: readonly HeaderPair[], name: string): string | null {
  const values = headerValues(headers, name);
  return values.length === 0 ? null : values.join(", ");
}
