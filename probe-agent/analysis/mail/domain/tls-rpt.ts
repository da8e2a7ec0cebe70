import { parseTagList, shownText, tagValue } from "#probe-agent/analysis/mail/tag-list.ts";

/** What the TXT records at _smtp._tls ask for (RFC 8460 section 3). */
export interface TlsRptFinding {
  readonly record: string | null;
  readonly valid: boolean;
  readonly rua: readonly string[];
  readonly issues: readonly string[];
}

const MAX_URIS = 20;

/** Reads them: of several records none counts. */
export function readTlsRpt(texts: readonly string[]): TlsRptFinding {
  const asking = texts.filter((text) => /^v=TLSRPTv1[ \t]*;/.test(text));
  const [text] = asking;
  if (text === undefined) {
    const issues = texts.some((other) => /tlsrpt/i.test(other))
      ? ['the TXT record at _smtp._tls does not begin with "v=TLSRPTv1;"']
      : [];
    return { record: null, valid: false, rua: [], issues };
  }
  const record = shownText(text, 1_000);
  if (asking.length > 1) {
    return { record, valid: false, rua: [], issues: ["several TLSRPT records: senders see none (section 3)"] };
  }
  const value = tagValue(parseTagList(text), "rua");
  const uris = (value ?? "").split(",", MAX_URIS).flatMap((uri) => (uri.trim() === "" ? [] : [uri.trim()]));
  const usable = uris.filter(isReportAddress);
  const issues = uris
    .filter((uri) => !usable.includes(uri))
    .map((uri) => `rua: ${shownText(uri, 60)} is neither a mailto: nor an https: address`);
  if (uris.length === 0) issues.push("rua is missing");
  return { record, valid: usable.length > 0, rua: usable.map((uri) => shownText(uri, 300)), issues };
}

/** Whether a URI names a mailbox at a domain of two labels or more, or an https host. */
function isReportAddress(uri: string): boolean {
  const [, domain] = /^mailto:[^@\s]+@([^@\s]+)$/i.exec(uri) ?? [];
  return domain === undefined ? /^https:\/\/[^\s/]/i.test(uri) : domain.slice(1, -1).includes(".");
}
