import { escapeOctet } from "#probe-agent/dns-codec/names.ts";
import type { SpfResolver } from "#probe-agent/analysis/mail/spf/lookup.ts";
import { fieldsOf, textsOf, type Found, type LookUp } from "#probe-agent/sources/dns-look-up.ts";

/**
 * Octets to be written with a backslash. Not the backslash itself: names that come out of records have theirs already.
 */
const SPECIAL = new Set(Buffer.from('"$();@'));

/** The resolver of SPF over a job's look-ups. */
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

/** Presentation form of a name that macros made: any octet may stand between its dots. */
function presentName(name: string): string {
  return name
    .split(".")
    .map((label) => Array.from(Buffer.from(label), (octet) => escapeOctet(octet, SPECIAL)).join(""))
    .join(".");
}
