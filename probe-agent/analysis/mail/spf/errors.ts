import { countLookups, countVoidLookups } from "#probe-agent/analysis/mail/spf/cost.ts";
import { nearRecordHint } from "#probe-agent/analysis/mail/spf/hints.ts";
import { LIMITS } from "#probe-agent/analysis/mail/spf/lookup.ts";
import { distinct, recordFinding, type SpfDraft } from "#probe-agent/analysis/mail/spf/draft.ts";
import type { SpfNode } from "#probe-agent/analysis/mail/spf/tree.ts";
import { toPrintableAscii } from "#probe-agent/analysis/mail/tag-list.ts";

/**
 * Finds the faults that make receivers return permerror, in the record and in the records that its includes and
 * redirects lead to (RFC 7208 sections 4.5, 4.6, 4.6.4, 5.2, 6.1).
 */
export function findErrors(root: SpfNode, nodes: readonly SpfNode[]): SpfDraft[] {
  const errors = nodes.flatMap((node): SpfDraft[] => {
    const { source, terms, domain } = node;
    switch (source.state) {
      case "malformed":
        return (source.faults ?? [source.reason]).map((fault) => recordFinding("spf-syntax", domain, `${fault}.`));
      case "several":
        return [recordFinding("spf-several-records", domain, `${source.reason}.`)];
      case "circle":
        return [recordFinding("spf-loop", domain, `${source.reason}.`)];
      case "none": {
        const message = `${source.reason}, but another record includes it or redirects to it${nearRecordHint(source.near)}.`;
        return node === root ? [] : [recordFinding("spf-include-missing", domain, message)];
      }
      default:
        return terms.flatMap(({ fault }) =>
          fault === null ? [] : [recordFinding("spf-too-many-mx-hosts", domain, `${fault}.`)],
        );
    }
  });
  const lookups = countLookups(root);
  if (lookups > LIMITS.lookups) {
    const message = `${lookups} terms need a DNS lookup; with more than ${LIMITS.lookups}, receivers return permerror.`;
    errors.push(recordFinding("spf-too-many-lookups", root.domain, message));
  }
  const voids = countVoidLookups(nodes);
  if (voids > LIMITS.voidLookups) {
    const which = listVoidTerms(nodes)
      .slice(0, 5)
      .map(({ what }) => what)
      .join(", ");
    const message = `${voids} DNS lookups return no records (${which}); with more than ${LIMITS.voidLookups}, receivers return permerror.`;
    errors.push(recordFinding("spf-too-many-void-lookups", root.domain, message));
  }
  return distinct(errors);
}

/** Lists the terms whose lookups return no record for an IPv4 sender. */
export function listVoidTerms(nodes: readonly SpfNode[]): { readonly domain: string; readonly what: string }[] {
  return nodes.flatMap(({ domain, terms }) =>
    terms.flatMap(({ voids, term }) =>
      voids > 0 ? [{ domain, what: `"${toPrintableAscii(term, 60)}" of ${domain}` }] : [],
    ),
  );
}
