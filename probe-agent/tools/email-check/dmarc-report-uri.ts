import { domainToASCII } from "node:url";
import type { FindingDraft } from "#probe-agent/analysis/text/findings.ts";
import { toPrintableAscii } from "#probe-agent/analysis/mail/tag-list.ts";

/** One finding on an address in rua or ruf. */
export type ReportUriDraft = FindingDraft<"dmarc-report-address" | "dmarc-report-size-limit">;

/** Address that a domain wants reports at. */
export interface ReportUri {
  readonly uri: string;
  /** Mail domain of the address in lower-case A-labels; null if it is not a mailto address. */
  readonly domain: string | null;
  /** Size limit in octets from a suffix such as "!10m" (RFC 7489); null without one. RFC 9990 has no such limit. */
  readonly max_size_bytes: number | null;
  /** Whether a receiver can send reports to the address. */
  readonly usable: boolean;
}

/** Maximum number of addresses that are read. Receivers must support only two (RFC 7489 section 6.3). */
const MAX_URIS = 20;
const MAX_URI = 300;
const UNITS: Readonly<Record<string, number>> = { "": 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 };
const MAILTO = /^mailto:([^@?\s]+)@([^@?\s]+?)(?:\?.*)?$/i;

/** Parses the value of rua or ruf, addresses separated by commas. Adds findings to `issues`. */
export function parseReportUris(tag: string, value: string | null, issues: ReportUriDraft[]): ReportUri[] {
  if (value === null) return [];
  const parts = value.split(",").map((part) => part.trim());
  if (parts.length > MAX_URIS) {
    const message = `${tag} has ${parts.length} addresses; receivers must support only two, and this check read the first ${MAX_URIS}.`;
    issues.push({ id: "dmarc-report-address", message });
  }
  return parts.slice(0, MAX_URIS).map((part) => readUri(tag, part, issues));
}

function readUri(tag: string, part: string, issues: ReportUriDraft[]): ReportUri {
  const [, uri = part, digits, unit = ""] = /^([^!]*)!(\d{1,15})([kmgt]?)$/i.exec(part) ?? [];
  if (digits !== undefined) {
    const message = `${tag}: the size limit !${digits}${unit} was removed by RFC 9990.`;
    issues.push({ id: "dmarc-report-size-limit", message });
  }
  const address = MAILTO.exec(uri.slice(0, MAX_URI));
  const domain = toMailDomain(address?.[2] ?? "");
  if (domain === "") {
    const why = /^https?:/i.test(uri)
      ? "is not a mail address; receivers must support only mailto:"
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

/** Converts a host to lower-case A-labels without a final dot. Returns "" if it is not a host name. */
function toMailDomain(host: string): string {
  const domain = domainToASCII(decodePercent(host)).toLowerCase().replace(/\.$/, "");
  return /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)+$/.test(domain) ? domain : "";
}

/** Decodes percent escapes. Returns "" if they are invalid. */
function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
