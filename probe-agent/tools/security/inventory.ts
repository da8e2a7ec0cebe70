import { leading, leadingText } from "#probe-agent/analysis/text/json-size.ts";
import { joinedHeader, type HeaderPair } from "#probe-agent/analysis/http/header-list.ts";

/** A header in the result. */
interface ShownHeader {
  readonly name: string;
  readonly value: string;
}

/** Security headers that a response has and lacks, and all its headers. */
interface HeaderInventory {
  readonly present: ShownHeader[];
  readonly missing: string[];
  /** All headers in wire order, without the values of cookies. */
  readonly raw: ShownHeader[];
  /** Whether some headers are not listed. */
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

/** Lists a response's headers. */
export function headerInventory(headers: readonly HeaderPair[]): HeaderInventory {
  const present: ShownHeader[] = [];
  const missing: string[] = [];
  for (const name of WANTED) {
    const value = joinedHeader(headers, name.toLowerCase());
    if (value === null) missing.push(name);
    else present.push({ name, value: leadingText(value, VALUE_BYTES) });
  }
  const raw = leading(headers.map(showHeader), RAW_BYTES);
  return { present, missing, raw, cut: raw.length < headers.length };
}

function showHeader([name, value]: HeaderPair): ShownHeader {
  const hidden = name.toLowerCase() === "set-cookie" ? value.replace(/^([^=;]*=)?[^;]*/, "$1(hidden)") : value;
  return { name: leadingText(name, VALUE_BYTES), value: leadingText(hidden, VALUE_BYTES) };
}
