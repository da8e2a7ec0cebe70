import { listVoidTerms } from "#probe-agent/analysis/mail/spf/errors.ts";
import { modifierHint, nearRecordHint } from "#probe-agent/analysis/mail/spf/hints.ts";
import { findFinalQualifier, passesEveryone } from "#probe-agent/analysis/mail/spf/passing.ts";
import { distinct, remark, type SpfRemark, type SpfRemarkId } from "#probe-agent/analysis/mail/spf/remark.ts";
import type { SpfNode } from "#probe-agent/analysis/mail/spf/tree.ts";
import { toPrintableAscii } from "#probe-agent/analysis/mail/tag-list.ts";

/** Maximum number of octets of a record whose DNS answer fits into 512 octets of UDP (RFC 7208 section 3.4). */
const MAX_RECORD = 450;

/** Finds what weakens a policy or may break it later. Without a record, finds a text that was meant as one. */
export function findWarnings(root: SpfNode, nodes: readonly SpfNode[]): SpfRemark[] {
  const { source, domain } = root;
  if (source.state !== "record") {
    return source.state === "none" && source.near !== undefined
      ? [remark("spf-near-record", domain, `${source.reason}${nearRecordHint(source.near)}.`)]
      : [];
  }
  const size = source.text.length;
  const long = `The record has ${size} octets; more than ${MAX_RECORD} may not fit into one DNS answer.`;
  return distinct([
    ...remarkOnEnd(root, nodes),
    ...nodes.flatMap(remarkOnRecord),
    ...(size > MAX_RECORD ? [remark("spf-record-long", domain, long)] : []),
    ...listVoidTerms(nodes).map(({ domain: owner, what }) =>
      remark("spf-void-term", owner, `The DNS lookup of the term ${what} returns no records for an IPv4 sender.`),
    ),
  ]);
}

/** Finds what is wrong with the end of the policy, which decides for senders that no term matches. */
function remarkOnEnd(root: SpfNode, nodes: readonly SpfNode[]): SpfRemark[] {
  const final = findFinalQualifier(root);
  if (passesEveryone(root)) {
    return [remark("spf-passes-everyone", root.domain, "The record passes every sender on the internet.")];
  }
  const effect = "other senders are neither allowed nor forbidden";
  if (final === "neutral") return [remark("spf-neutral-all", root.domain, `The record ends in ?all: ${effect}.`)];
  const isOpen = nodes.some(({ terms }) => terms.some(({ type, dynamic }) => type === "redirect" && dynamic));
  return final === null && !isOpen
    ? [remark("spf-without-all", root.domain, `The record ends without all: ${effect}.`)]
    : [];
}

function remarkOnRecord({ domain, source, terms }: SpfNode): SpfRemark[] {
  if (source.state !== "record") return [];
  const { mechanisms, redirect, unknown } = source.record;
  const all = mechanisms.findIndex(({ name }) => name === "all");
  const about = (id: SpfRemarkId, message: string): SpfRemark => remark(id, domain, `${domain}: ${message}`);
  return [
    ...(all >= 0 && all < mechanisms.length - 1
      ? [about("spf-terms-unreachable", "the terms after all are never reached.")]
      : []),
    ...(all >= 0 && redirect !== null
      ? [about("spf-redirect-ignored", "receivers ignore redirect because the record has all.")]
      : []),
    ...(terms.some(({ type }) => type === "ptr")
      ? [about("spf-ptr", "the record uses ptr, which is slow and should not be used.")]
      : []),
    ...(terms.some(({ dynamic }) => dynamic)
      ? [about("spf-macro-not-followed", "a term has a macro that depends on the sender; its name was not looked up.")]
      : []),
    ...unknown
      .slice(0, 3)
      .map((term) =>
        about(
          "spf-unknown-modifier",
          `receivers ignore the unknown modifier "${toPrintableAscii(term, 60)}"${modifierHint(term)}.`,
        ),
      ),
    ...terms.flatMap(({ mechanism, term }) =>
      mechanism?.name === "ip4" && mechanism.prefix < 16 && mechanism.qualifier === "pass"
        ? [about("spf-large-block", `${toPrintableAscii(term, 60)} passes ${2 ** (32 - mechanism.prefix)} addresses.`)]
        : [],
    ),
  ];
}
