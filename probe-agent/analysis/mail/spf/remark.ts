import type { Remark } from "#probe-agent/analysis/mail/remarks.ts";
import { toPrintableAscii } from "#probe-agent/analysis/mail/tag-list.ts";

/** Kinds of remarks on an SPF policy. */
export type SpfRemarkId =
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
/** One remark on an SPF policy. `where` is the domain whose record it is about. */
export type SpfRemark = Remark<SpfRemarkId>;

/** Makes a remark on the record of the domain `where`. */
export function remark(id: SpfRemarkId, where: string, message: string): SpfRemark {
  return { id, message, where: toPrintableAscii(where, 253) };
}

/** Removes remarks with the same message. Keeps the order; the first of several remains. */
export function distinct(remarks: readonly SpfRemark[]): SpfRemark[] {
  return [...new Map(remarks.toReversed().map((one) => [one.message, one])).values()].toReversed();
}
