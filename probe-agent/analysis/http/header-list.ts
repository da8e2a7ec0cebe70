/** A header field as received. A repeated field is a pair for each of its lines. */
export type HeaderPair = readonly [name: string, value: string];

/** Returns the values of all fields of a name, in wire order. `name` is in lower case. */
export function headerValues(headers: readonly HeaderPair[], name: string): string[] {
  const values: string[] = [];
  for (const [candidate, value] of headers) {
    // Most names differ in length, so few are converted to lower case.
    if (candidate.length === name.length && candidate.toLowerCase() === name) values.push(value);
  }
  return values;
}

/** Joins the values of a field with ", ", as recipients do (RFC 9110 section 5.3). Null if the field is absent. */
export function joinedHeader(headers: readonly HeaderPair[], name: string): string | null {
  const values = headerValues(headers, name);
  return values.length === 0 ? null : values.join(", ");
}

/**
 * Returns the elements of a comma-separated field over all its lines (RFC 9110 section 5.6.1), trimmed and in lower
 * case, without empty elements. `name` is in lower case.
 */
export function headerElements(headers: readonly HeaderPair[], name: string): string[] {
  const values = headerValues(headers, name);
  if (values.length === 0) return values;
  return values
    .flatMap((value) => value.split(","))
    .map((element) => element.trim().toLowerCase())
    .filter((element) => element !== "");
}

/** Returns the media type of a Content-Type, without parameters and in lower case. Empty if there is none. */
export function mimeEssence(contentType: string | null): string {
  return (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}
