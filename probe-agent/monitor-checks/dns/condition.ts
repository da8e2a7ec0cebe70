import type { MonitorFault } from "#shared/monitor-checks/define.ts";
import { listFirst } from "#shared/text/list.ts";
import { printable } from "#probe-agent/analysis/text/printable.ts";
import type { DnsRecord } from "#probe-agent/port/dns.ts";
import { domainToASCII } from "node:url";
import { DecodeError } from "#probe-agent/dns-codec/error.ts";
import { parseRdata, readRdata } from "#probe-agent/dns-codec/rdata/codec.ts";

/** What the records of a type must be. */
interface RecordCondition {
  readonly domain: string;
  readonly type: string;
  readonly op: "any" | "equals" | "contains" | "not_contains";
  readonly values: readonly string[];
}

const VALUES_SHOWN = 3;
const MAX_VALUE_SHOWN = 80;

/** Compares the records that were found with those that are expected. Returns null if they are as expected. */
export function examineRecords(
  { domain, type, op, values }: RecordCondition,
  records: readonly DnsRecord[],
): MonitorFault | null {
  const found = new Set(records.map(comparable));
  const expected = new Set(values.map((value) => expectedData(type, value)));
  const isFound = (value: string) => isAmong(found, type, value);
  const fault = (reason: string, message: string): MonitorFault => ({ stage: "dns", reason, message });
  const name = `${type} of ${domain}`;
  if (found.size === 0 && op !== "not_contains" && (op === "any" || expected.size > 0)) {
    return fault(
      "no_records",
      `there is no ${type} record of ${domain}${op === "any" ? "" : `, expected ${list(expected)}`}`,
    );
  }
  switch (op) {
    case "any":
      return null;
    case "equals":
      if (found.size === expected.size && found.isSupersetOf(expected)) return null;
      return fault("records_differ", `${name} is ${list(found)}, expected ${list(expected)}`);
    case "contains": {
      const missing = [...expected].filter((value) => !isFound(value));
      if (missing.length === 0) return null;
      return fault("record_missing", `${name} is ${list(found)}, without ${list(missing)}`);
    }
    case "not_contains": {
      const present = [...expected].filter(isFound);
      return present.length === 0 ? null : fault("record_present", `${name} contains ${list(present)}`);
    }
  }
}

/** Reports whether a value is one of the records; for TXT, whether it is part of one. */
function isAmong(found: ReadonlySet<string>, type: string, value: string): boolean {
  return found.has(value) || (type === "TXT" && found.values().some((text) => text.includes(value)));
}

function list(values: Iterable<string>): string {
  const all = [...values];
  if (all.length === 0) return "no record";
  const shown = all.slice(0, VALUES_SHOWN).map((value) => printable(value, MAX_VALUE_SHOWN));
  return listFirst(shown, VALUES_SHOWN, all.length);
}

/** Types whose data consists of names and numbers. DNS compares names without case. */
const NAME_TYPES: ReadonlySet<string> = new Set(["CNAME", "NS", "PTR", "MX", "SOA", "SRV"]);

/** Returns the data of a record in a form that is equal for equal data. */
function comparable({ type, data, typed }: Pick<DnsRecord, "type" | "data" | "typed">): string {
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
