/** A header field as received: name and value as latin1, one character per octet. */
export type RawHeader = readonly [name: string, value: string];

const UTF8 = new TextDecoder("utf-8", { fatal: true });

// oxlint-disable-next-line no-control-regex -- control characters are what this looks for
const CONTROLS = /[\u0000-\u0008\u000a-\u001f\u007f]/g;

/** Converts a field to readable text: octets as UTF-8 if valid, else latin1; control characters except tab become U+FFFD. */
export function readable(latin1: string): string {
  return decode(latin1).replaceAll(CONTROLS, "\ufffd");
}

function decode(latin1: string): string {
  if (!/[\u0080-\u00ff]/.test(latin1)) return latin1;
  try {
    return UTF8.decode(Buffer.from(latin1, "latin1"));
  } catch {
    return latin1;
  }
}

/** Returns the values of every field of that name (given in lower case), in wire order. */
export function valuesOf(headers: readonly RawHeader[], name: string): readonly string[] {
  return headers.filter(([candidate]) => candidate.toLowerCase() === name).map(([, value]) => value);
}

/** Returns the elements of a comma-separated field over all its lines (RFC 9110 section 5.6.1), lower case, empty ones left out. */
export function listOf(headers: readonly RawHeader[], name: string): readonly string[] {
  return valuesOf(headers, name)
    .flatMap((value) => value.split(","))
    .map((element) => element.trim().toLowerCase())
    .filter((element) => element !== "");
}
