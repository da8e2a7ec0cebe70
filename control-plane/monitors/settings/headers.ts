import { readHeaderFields } from "#control-plane/core/header-fields.ts";
import type { Read } from "#shared/schema/problem.ts";
import { MASK } from "#control-plane/outages/kinds/mask.ts";

type Headers = Readonly<Record<string, string>>;

/** Maximum number of header fields that a monitor sends. */
export const MOST_HEADERS = 20;

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
  return readHeaderFields(given, stored, {
    field: "request_headers",
    most: MOST_HEADERS,
    mask: MASK,
    reserved: (name) => (RESERVED.has(name) ? "cannot be set: the probe writes this field itself" : null),
  });
}
