import { finding, type FindingDraft } from "#probe-agent/analysis/text/findings.ts";
import { toPrintableAscii } from "#probe-agent/analysis/mail/tag-list.ts";

/** Kinds of findings on an SPF policy. */
export type SpfFindingId =
  | "spf-syntax"
  | "spf-several-records"
  | "spf-loop"
  | "spf-include-missing"
  | "spf-too-many-mx-hosts"
  | "spf-too-many-lookups"
  | "spf-too-many-void-lookups"
  | "spf-near-record"
  | "spf-passes-everyone"
  | "spf-neutral-all"
  | "spf-without-all"
  | "spf-terms-unreachable"
  | "spf-redirect-ignored"
  | "spf-ptr"
  | "spf-macro-not-followed"
  | "spf-unknown-modifier"
  | "spf-large-block"
  | "spf-record-long"
  | "spf-void-term";
/** One finding on an SPF policy. `where` is the domain whose record it is about. */
export type SpfDraft = FindingDraft<SpfFindingId>;

/** Makes a finding on the record of a domain. */
export function recordFinding(id: SpfFindingId, domain: string, message: string): SpfDraft {
  return finding(id, toPrintableAscii(domain, 253), message);
}

/** Removes findings with the same message. Keeps the order; the first of several remains. */
export function distinct(drafts: readonly SpfDraft[]): SpfDraft[] {
  return [...new Map(drafts.toReversed().map((one) => [one.message, one])).values()].toReversed();
}
