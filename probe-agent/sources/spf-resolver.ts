import { escapeOctet } from "#probe-agent/dns-codec/names.ts";
import type { SpfResolver } from "#probe-agent/analysis/mail/spf/lookup.ts";
import { fieldsOf, textsOf, type Found, type LookUp } from "#probe-agent/sources/dns-look-up.ts";

/**
 * Octets to escape with a backslash. The backslash itself is not among them, because names from records are already
 * escaped.
 */
const SPECIAL = new Set(Buffer.from('"$();@'));

/** Creates the resolver for SPF on top of a job's lookups. */
export function spfResolver(lookUp: LookUp): SpfResolver {
  return {
    async query(name, type) {
      const found = await lookUp(presentName(name), type);
      if (found.state === "unknown")
        return { status: found.status === "TIMEOUT" ? "TIMEOUT" : "SERVFAIL", records: [] };
      if (found.state === "absent") return { status: "NXDOMAIN", records: [] };
      return { status: "NOERROR", records: recordsOf(found, type) };
    },
  };
}

function recordsOf(found: Found, type: string): string[] {
  switch (type) {
    case "TXT":
      return textsOf(found);
    case "MX":
      return found.records.map(({ typed }) => `${String(typed["preference"])} ${String(typed["exchange"])}`);
    case "PTR":
      return fieldsOf(found, "ptrdname");
    default:
      return fieldsOf(found, "address");
  }
}

/** Returns the presentation form of a name that macros produced. It can contain any octet between its dots. */
function presentName(name: string): string {
  return name
    .split(".")
    .map((label) => Array.from(Buffer.from(label), (octet) => escapeOctet(octet, SPECIAL)).join(""))
    .join(".");
}
