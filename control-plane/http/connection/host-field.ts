import type { IncomingMessage } from "node:http";
import { LRUCache } from "lru-cache";
import { Refusal } from "#control-plane/http/errors.ts";

// RFC 9110, section 7.2: uri-host [ ":" port ]. Allows the characters of host names and address literals, but no user
// info and no percent-encoding, which no client sends. An empty value is valid: the target has no authority.
const FORM = /^(?:[A-Za-z0-9._-]*|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{0,5})?$/;
const LONGEST = 260;

/** Cache of valid values: the URL parser is slower than a look-up. */
const known = new LRUCache<string, true>({ max: 1_000 });

/**
 * Returns the 400 for a request with a missing, repeated or invalid Host field (RFC 9112, section 3.2), else undefined.
 * Of several fields Node silently keeps the first. HTTP/1.0 has no Host field. The value can be that of a target in
 * absolute form, which replaces the field (request-target.ts).
 */
export function refuseHost({ headers: { host }, rawHeaders, httpVersion }: IncomingMessage): Refusal | undefined {
  let fields = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? "";
    if (name.length === 4 && name.toLowerCase() === "host") fields += 1;
  }
  if (fields === 0 && httpVersion === "1.1") return refusal("required", "Send a Host header.");
  if (fields > 1) return refusal("duplicate", "Send one Host header.");
  if (host === undefined || known.has(host)) return undefined;
  if (!isHost(host))
    return refusal("type", "The Host header must be a host name or an address, with or without a port.");
  known.set(host, true);
  return undefined;
}

function isHost(value: string): boolean {
  if (value.length > LONGEST || !FORM.test(value)) return false;
  return value === "" || URL.canParse(`http://${value}/`);
}

function refusal(reason: string, message: string): Refusal {
  return new Refusal("missing_parameter", { field: "Host", reason, message });
}
