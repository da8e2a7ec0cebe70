import { domainToASCII } from "node:url";
import type { Remark } from "#probe-agent/analysis/mail/remarks.ts";
import { toPrintableAscii } from "#probe-agent/analysis/mail/tag-list.ts";

/** One remark on an address of rua or ruf. */
export type ReportUriRemark = Remark<"dmarc-report-address" | "dmarc-report-size-limit">;

/** Where reports are to go. */
export interface ReportUri {
  readonly uri: string;
  /** Mail domain it leads to, lower-case A-labels; null where it is no mailto address. */
  readonly domain: string | null;
  /** Size limit of RFC 7489's "!10m" in octets; null without one. RFC 9990 has none. */
  readonly max_size_bytes: number | null;
  /** Whether a receiver could send there. */
  readonly usable: boolean;
}

/** Receivers need to serve two of each (RFC 7489 section 6.3); more are looked at to be shown. */
const MAX_URIS = 20;
const MAX_URI = 300;
const UNITS: Readonly<Record<string, number>> = { "": 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 };
const MAILTO = /^mailto:([^@?\s]+)@([^@?\s]+?)(?:\?.*)?$/i;

/** Reads the value of rua or ruf: addresses with commas between. */
export function parseReportUris(tag: string, value: string | null, issues: ReportUriRemark[]): ReportUri[] {
  if (value === null) return [];
  const parts = value.split(",").map((part) => part.trim());
  if (parts.length > MAX_URIS) {
    const message = `${tag} has ${parts.length} addresses; receivers need to serve two, and the first ${MAX_URIS} were read.`;
    issues.push({ id: "dmarc-report-address", message });
  }
  return parts.slice(0, MAX_URIS).map((part) => readUri(tag, part, issues));
}

function readUri(tag: string, part: string, issues: ReportUriRemark[]): ReportUri {
  const [, uri = part, digits, unit = ""] = /^([^!]*)!(\d{1,15})([kmgt]?)$/i.exec(part) ?? [];
  if (digits !== undefined) {
    const message = `${tag}: the size limit !${digits}${unit} was removed by RFC 9990.`;
    issues.push({ id: "dmarc-report-size-limit", message });
  }
  const address = MAILTO.exec(uri.slice(0, MAX_URI));
  const domain = mailDomain(address?.[2] ?? "");
  if (domain === "") {
    const why = /^https?:/i.test(uri)
      ? "is not a mail address; receivers need to serve mailto: only"
      : "is not a mailto: address";
    issues.push({ id: "dmarc-report-address", message: `${tag}: ${toPrintableAscii(part, 60)} ${why}.` });
  }
  return {
    uri: toPrintableAscii(uri, MAX_URI),
    domain: domain === "" ? null : domain,
    max_size_bytes: digits === undefined ? null : Number(digits) * (UNITS[unit.toLowerCase()] ?? 1),
    usable: domain !== "",
  };
}

/** Lower-case A-labels without final dot; "" for what is no host name. */
function mailDomain(host: string): string {
  const domain = domainToASCII(decode(host)).toLowerCase().replace(/\.$/, "");
  return /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)+$/.test(domain) ? domain : "";
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
