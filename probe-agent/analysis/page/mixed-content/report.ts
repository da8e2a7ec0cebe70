import { analyseCsp } from "#probe-agent/analysis/csp.ts";
import { deliveredPolicies, enforcedTexts } from "#probe-agent/analysis/web/csp/delivery.ts";
import { fitFindings } from "#probe-agent/analysis/text/findings.ts";
import { describeMixedContent } from "#probe-agent/analysis/page/mixed-content/described-findings.ts";
import { leading } from "#probe-agent/analysis/text/json-size.ts";
import { readHtml } from "#probe-agent/analysis/html/read-page.ts";
import { findMixedContent, type MixedReference } from "#probe-agent/analysis/page/mixed-content.ts";
import type { ReadPage } from "#probe-agent/analysis/html/pages/reading.ts";

/** Maximum size of each list as JSON, in bytes. */
const LIST_BYTES = 50_000;

/** Reports the insecure references of a page under its own policies, cut to the size of a result. */
export function mixedContentReport({ page, url, headers }: ReadPage) {
  const { effective } = analyseCsp(enforcedTexts(deliveredPolicies(headers, page)));
  const upgrades = effective.upgrade_insecure_requests;
  const blocks = effective.block_all_mixed_content;
  const policy = { upgradeInsecureRequests: upgrades, blockAllMixedContent: blocks };
  const found = findMixedContent(page ?? readHtml(""), url, policy);
  const lists = {
    active: cutList(found.active),
    passive: leading(found.passive, LIST_BYTES),
    forms: cutList(found.forms),
    css_urls: cutList(found.cssUrls),
  };
  const cut =
    lists.active.length < found.counts.active ||
    lists.passive.length < found.counts.passive ||
    lists.forms.length < found.counts.forms ||
    lists.css_urls.length < found.counts.css;
  return {
    fields: {
      https: found.https,
      verdict: page === null ? null : found.verdict,
      ...lists,
      counts: found.counts,
      upgrade_insecure_requests: upgrades,
      block_all: blocks,
      findings: page === null ? [] : fitFindings(describeMixedContent(found, blocks)).findings,
    },
    limitations: cut ? ["Not all references are listed."] : [],
  };
}

function cutList(references: readonly MixedReference[]): MixedReference[] {
  return leading(references, LIST_BYTES);
}
