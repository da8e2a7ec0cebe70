import { leading, leadingText } from "#probe-agent/analysis/text/json-size.ts";
import { joinedHeader, type HeaderPair } from "#probe-agent/analysis/http/header-list.ts";

/** A header as it is shown. */
interface ShownHeader {
  readonly name: string;
  readonly value: string;
}

/** Which security headers a response has, and everything it sent. */
interface HeaderInventory {
  readonly present: ShownHeader[];
  readonly missing: string[];
  /** All headers in wire order, values of cookies left out. */
  readonly raw: ShownHeader[];
  /** Not all of them are listed. */
  readonly cut: boolean;
}

/** Headers a page should have. */
const WANTED = [
  "Content-Security-Policy",
  "Strict-Transport-Security",
  "X-Content-Type-Options",
  "X-Frame-Options",
  "Referrer-Policy",
  "Permissions-Policy",
  "Cross-Origin-Opener-Policy",
  "Cross-Origin-Resource-Policy",
  "Cross-Origin-Embedder-Policy",
];

const VALUE_BYTES = 4096;
const RAW_BYTES = 80_000;

/** Sorts a response's headers. */
export function headerInventory(headers: readonly HeaderPair[]): HeaderInventory {
  const present: ShownHeader[] = [];
  const missing: string[] = [];
  for (const name of WANTED) {
    const value = joinedHeader(headers, name.toLowerCase());
    if (value === null) missing.push(name);
    else present.push({ name, value: leadingText(value, VALUE_BYTES) });
  }
  const raw = leading(headers.map(show), RAW_BYTES);
  return { present, missing, raw, cut: raw.length < headers.length };
}

function show([name, value]: HeaderPair): ShownHeader {
  const hidden = name.toLowerCase() === "set-cookie" ? value.replace(/^([^=;]*=)?[^;]*/, "$1(hidden)") : value;
  return { name: leadingText(name, VALUE_BYTES), value: leadingText(hidden, VALUE_BYTES) };
}
