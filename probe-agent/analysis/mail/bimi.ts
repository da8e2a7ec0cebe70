import type { FindingDraft } from "#probe-agent/analysis/text/findings.ts";
import { parseTagList, toPrintableAscii, tagValue } from "#probe-agent/analysis/mail/tag-list.ts";

/** Kinds of findings on a BIMI record. */
export type BimiFindingId =
  | "bimi-several-records"
  | "bimi-record-malformed"
  | "bimi-without-certificate"
  | "bimi-dmarc-not-enforced";
/** One finding on a BIMI record. */
export type BimiDraft = FindingDraft<BimiFindingId>;

/** BIMI record at default._bimi (draft-brand-indicators-for-message-identification section 4). */
interface BimiRecord {
  /** null if there is no record. */
  readonly record: string | null;
  /** Whether the record is well formed; null without a record. */
  readonly valid: boolean | null;
  /** Address of the logo. Empty if the domain declines to have a logo; null if the tag is absent. */
  readonly location: string | null;
  /** Address of the certificate; null if there is none. */
  readonly authority: string | null;
  readonly issues: readonly BimiDraft[];
}

const MAX_URI = 500;

/** Parses the TXT texts at default._bimi. */
export function readBimi(texts: readonly string[]): BimiRecord {
  const records = texts.filter((text) => /^v=BIMI1[ \t]*;/i.test(text));
  const [text] = records;
  if (text === undefined) return { record: null, valid: null, location: null, authority: null, issues: [] };
  const list = parseTagList(text);
  const location = tagValue(list, "l");
  const authority = tagValue(list, "a");
  const several = `There are ${records.length} BIMI records; receivers ignore them all.`;
  const wrong = [
    ...(location === null
      ? ["The tag l with the address of the logo is missing."]
      : findUriFaults("l", location, ".svg")),
    ...(authority === null ? [] : findUriFaults("a", authority, ".pem")),
  ];
  const faults: BimiDraft[] = [
    ...(records.length > 1 ? [{ id: "bimi-several-records", message: several } as const] : []),
    ...wrong.map((message) => ({ id: "bimi-record-malformed", message }) as const),
  ];
  const uncertified = "The BIMI record has no certificate (a=). Most mailbox providers show no logo without one.";
  const hints: BimiDraft[] =
    location !== null && location !== "" && (authority ?? "") === ""
      ? [{ id: "bimi-without-certificate", message: uncertified }]
      : [];
  return {
    record: toPrintableAscii(text, 1_000),
    valid: faults.length === 0,
    location: location === null ? null : toPrintableAscii(location, MAX_URI),
    authority: authority === null || authority === "" ? null : toPrintableAscii(authority, MAX_URI),
    issues: [...faults, ...hints],
  };
}

/** Finds faults in an address. An empty value is valid: it means no logo or no certificate. */
function findUriFaults(tag: string, value: string, ending: string): string[] {
  if (value === "") return [];
  const url = URL.parse(value);
  if (url?.protocol !== "https:") return [`${tag}=${toPrintableAscii(value, 60)} is not an https address.`];
  return url.pathname.toLowerCase().endsWith(ending)
    ? []
    : [`${tag}=${toPrintableAscii(value, 60)} does not end in ${ending}.`];
}
