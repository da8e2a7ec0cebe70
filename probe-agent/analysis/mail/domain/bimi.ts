import { parseTagList, shownText, tagValue } from "#probe-agent/analysis/mail/tag-list.ts";

/** What default._bimi holds (draft-brand-indicators-for-message-identification section 4). */
export interface BimiRecord {
  readonly record: string | null;
  /** Null without a record. */
  readonly valid: boolean | null;
  /** Empty where the domain declines to have a logo. */
  readonly location: string | null;
  readonly authority: string | null;
  readonly issues: readonly string[];
}

const MAX_URI = 500;

/** Reads the TXT texts at default._bimi. */
export function readBimi(texts: readonly string[]): BimiRecord {
  const records = texts.filter((text) => /^v=BIMI1[ \t]*;/i.test(text));
  const [text] = records;
  if (text === undefined) return { record: null, valid: null, location: null, authority: null, issues: [] };
  const list = parseTagList(text);
  const location = tagValue(list, "l");
  const authority = tagValue(list, "a");
  const faults = [
    ...(records.length > 1 ? ["several BIMI records: receivers see none"] : []),
    ...(location === null ? ["l is missing"] : uriFaults("l", location, ".svg")),
    ...(authority === null ? [] : uriFaults("a", authority, ".pem")),
  ];
  const hints =
    location !== null && location !== "" && (authority ?? "") === ""
      ? ["without a certificate (a=) most mailbox providers show no logo"]
      : [];
  return {
    record: shownText(text, 1_000),
    valid: faults.length === 0,
    location: location === null ? null : shownText(location, MAX_URI),
    authority: authority === null || authority === "" ? null : shownText(authority, MAX_URI),
    issues: [...faults, ...hints],
  };
}

/** Empty is allowed for both: no logo, no certificate. */
function uriFaults(tag: string, value: string, ending: string): string[] {
  if (value === "") return [];
  const url = URL.parse(value);
  if (url?.protocol !== "https:") return [`${tag}: ${shownText(value, 60)} is no https address`];
  return url.pathname.toLowerCase().endsWith(ending) ? [] : [`${tag}: the address should end in ${ending}`];
}
