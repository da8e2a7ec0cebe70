/** A header field as received: name and value as latin1, one character per octet. */
export type RawHeader = readonly [name: string, value: string];

const UTF8 = new TextDecoder("utf-8", { fatal: true });

// oxlint-disable-next-line no-control-regex -- the expression searches for control characters
const CONTROLS = /[\u0000-\u0008\u000a-\u001f\u007f]/g;

/** Converts a field to text: octets as UTF-8 if valid, else as latin1. Control characters except tab become U+FFFD. */
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
