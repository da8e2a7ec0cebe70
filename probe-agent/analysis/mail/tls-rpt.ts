import type { FindingDraft } from "#probe-agent/analysis/text/findings.ts";
import { parseTagList, toPrintableAscii, tagValue } from "#probe-agent/analysis/mail/tag-list.ts";

/** Kinds of findings on a TLSRPT record. */
export type TlsRptFindingId = "tls-rpt-record-malformed" | "tls-rpt-several-records" | "tls-rpt-address";
/** One finding on a TLSRPT record. */
export type TlsRptDraft = FindingDraft<TlsRptFindingId>;

/** Parsed TLSRPT record at _smtp._tls (RFC 8460 section 3). */
interface TlsRptRecord {
  readonly record: string | null;
  readonly valid: boolean;
  readonly rua: readonly string[];
  readonly issues: readonly TlsRptDraft[];
}

const MAX_URIS = 20;

/** Parses the TXT texts at _smtp._tls. Senders ignore all of several TLSRPT records. */
export function readTlsRpt(texts: readonly string[]): TlsRptRecord {
  const asking = texts.filter((text) => /^v=TLSRPTv1[ \t]*;/.test(text));
  const [text] = asking;
  if (text === undefined) {
    const near = texts.find((other) => /tlsrpt/i.test(other));
    const message = `The TXT record at _smtp._tls must begin with "v=TLSRPTv1;" but is "${toPrintableAscii(near ?? "", 60)}".`;
    const issues: TlsRptDraft[] = near === undefined ? [] : [{ id: "tls-rpt-record-malformed", message }];
    return { record: null, valid: false, rua: [], issues };
  }
  const record = toPrintableAscii(text, 1_000);
  if (asking.length > 1) {
    const message = `There are ${asking.length} TLSRPT records; senders ignore them all.`;
    return { record, valid: false, rua: [], issues: [{ id: "tls-rpt-several-records", message }] };
  }
  const value = tagValue(parseTagList(text), "rua");
  const uris = (value ?? "").split(",", MAX_URIS).flatMap((uri) => (uri.trim() === "" ? [] : [uri.trim()]));
  const usable = uris.filter(isReportAddress);
  const issues = uris
    .filter((uri) => !usable.includes(uri))
    .map((uri): TlsRptDraft => {
      return {
        id: "tls-rpt-address",
        message: `rua: ${toPrintableAscii(uri, 60)} is neither a mailto: nor an https: address.`,
      };
    });
  if (uris.length === 0)
    issues.push({ id: "tls-rpt-address", message: "The tag rua is missing: no reports are sent." });
  return { record, valid: usable.length > 0, rua: usable.map((uri) => toPrintableAscii(uri, 300)), issues };
}

/** Reports whether a URI is a mailto address at a domain of two or more labels, or an https address. */
function isReportAddress(uri: string): boolean {
  const [, domain] = /^mailto:[^@\s]+@([^@\s]+)$/i.exec(uri) ?? [];
  return domain === undefined ? /^https:\/\/[^\s/]/i.test(uri) : domain.slice(1, -1).includes(".");
}
