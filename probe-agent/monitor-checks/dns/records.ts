import { domainToASCII } from "node:url";
import { DecodeError } from "#probe-agent/dns-codec/error.ts";
import { parseRdata, readRdata } from "#probe-agent/dns-codec/rdata/codec.ts";
import type { DnsRecord } from "#probe-agent/port/dns.ts";

/** Types whose data consists of names and numbers. DNS compares names without case. */
const NAME_TYPES: ReadonlySet<string> = new Set(["CNAME", "NS", "PTR", "MX", "SOA", "SRV"]);

/** Returns the data of a record in a form that is equal for equal data. */
export function comparable({ type, data, typed }: Pick<DnsRecord, "type" | "data" | "typed">): string {
  const { text } = typed;
  if (type === "TXT" && typeof text === "string") return text;
  return normalise(type, data);
}

/**
 * Returns the data that a user expects in the same form. It is zone-file text with or without final dots; for TXT, the
 * text itself, or quoted strings. Text that is not data of the type is returned as it is and equals no record.
 */
export function expectedData(type: string, text: string): string {
  const trimmed = text.trim();
  if (type === "TXT" && !trimmed.startsWith('"')) return text;
  try {
    const raw = parseRdata(type, NAME_TYPES.has(type) ? toAsciiNames(trimmed) : trimmed);
    return comparable({ type, ...readRdata(type, raw, 0, raw.length) });
  } catch (error) {
    if (error instanceof DecodeError) return text;
    throw error;
  }
}

function toAsciiNames(text: string): string {
  return text
    .split(/\s+/)
    .map((word) => (/[\u0080-\uffff]/.test(word) ? domainToASCII(word) : word))
    .join(" ");
}

function normalise(type: string, data: string): string {
  if (NAME_TYPES.has(type)) return data.toLowerCase();
  if (type !== "CAA") return data;
  // The tag has no case, unlike the value in quotes after it.
  const quote = data.indexOf('"');
  return quote === -1 ? data.toLowerCase() : data.slice(0, quote).toLowerCase() + data.slice(quote);
}
