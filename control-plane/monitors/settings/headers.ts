import { refuse, type Read } from "#control-plane/monitors/settings/read.ts";
import { MASK } from "#control-plane/monitors/settings/secrets.ts";

type Headers = Readonly<Record<string, string>>;

const MOST_HEADERS = 20;
const LONGEST_VALUE = 4_096;
// A token of RFC 9110, section 5.6.2.
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;
const VALUE = /^[\u0020-\u007e]*$/;

/** Fields that belong to the connection or the framing of the message, which the agent writes itself. */
const RESERVED: ReadonlySet<string> = new Set([
  "host",
  "content-length",
  "transfer-encoding",
  "connection",
  "keep-alive",
  "proxy-connection",
  "proxy-authenticate",
  "proxy-authorization",
  "te",
  "trailer",
  "upgrade",
  "expect",
  "http2-settings",
]);

/** Reads request headers. A masked value keeps the stored value of that name, in any case. */
export function readHeaders(given: Headers, stored: Headers): Read<Headers> {
  const entries = Object.entries(given);
  if (entries.length > MOST_HEADERS) {
    return refuse("request_headers", "range", `must have at most ${MOST_HEADERS} fields`);
  }
  const kept = new Map(Object.entries(stored).map(([name, value]) => [name.toLowerCase(), value]));
  const names = new Set<string>();
  const headers: [string, string][] = [];
  for (const [name, raw] of entries) {
    const key = name.toLowerCase();
    if (!NAME.test(name)) {
      return refuse("request_headers", "type", "names consist of 1 to 100 letters, digits and !#$%&'*+-.^_`|~");
    }
    const field = `request_headers.${name}`;
    if (RESERVED.has(key)) return refuse(field, "unknown", "cannot be set: the probe writes this field itself");
    if (names.has(key)) return refuse(field, "duplicate", "was given twice, in different case");
    names.add(key);
    const value = raw === MASK ? kept.get(key) : raw.trim();
    if (value === undefined) {
      return refuse(field, "type", `${MASK} is what responses show in place of a secret; give the value itself`);
    }
    if (value.length > LONGEST_VALUE) return refuse(field, "range", `must have at most ${LONGEST_VALUE} characters`);
    if (!VALUE.test(value)) return refuse(field, "type", "must consist of visible ASCII characters and spaces");
    headers.push([name, value]);
  }
  return { ok: true, value: Object.fromEntries(headers) };
}
