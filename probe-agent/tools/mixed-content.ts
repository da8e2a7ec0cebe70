import { ok } from "#shared/outcome.ts";
import { mixedContent as contract } from "#shared/tools/mixed-content.ts";
import { analyseCsp } from "#probe-agent/analysis/csp.ts";
import { deliveredPolicies, enforcedTexts } from "#probe-agent/analysis/csp/delivery.ts";
import { leading } from "#probe-agent/analysis/fitting.ts";
import { readHtml } from "#probe-agent/analysis/html.ts";
import { findMixedContent, type MixedReference } from "#probe-agent/analysis/mixed-content.ts";
import { seePage, type SeenPage } from "#probe-agent/sources/page.ts";
import { implement } from "#probe-agent/tools/implement.ts";

/** Octets of JSON for each list. */
const LIST_BYTES = 55_000;

/** Insecure references in a page's HTML. */
export const mixedContent = implement(contract, async (net, { url }) => {
  const seen = await seePage(net, url);
  if (seen.status !== "ok") return seen;
  const { head, page, snapshot, observedAt } = seen.data;
  const { effective } = analyseCsp(enforcedTexts(deliveredPolicies(snapshot.final.headers, page)));
  const upgrades = effective.upgrade_insecure_requests;
  const blocks = effective.block_all_mixed_content;
  const policy = { upgradeInsecureRequests: upgrades, blockAllMixedContent: blocks };
  const found = findMixedContent(page ?? readHtml(""), snapshot.finalUrl, policy);
  const lists = {
    active: shown(found.active),
    passive: leading(found.passive, LIST_BYTES),
    forms: shown(found.forms),
    css_urls: shown(found.cssUrls),
  };
  const cut =
    lists.active.length < found.counts.active ||
    lists.passive.length < found.counts.passive ||
    lists.forms.length < found.counts.forms ||
    lists.css_urls.length < found.counts.css;
  return ok({
    ...head,
    https: found.https,
    verdict: page === null ? null : found.verdict,
    ...lists,
    counts: found.counts,
    upgrade_insecure_requests: upgrades,
    block_all: blocks,
    source: ["page"],
    observed_at: observedAt,
    limitations: [...limitationsOf(seen.data, found.https), ...(cut ? ["Not all references are listed."] : [])],
  });
});

function shown(references: readonly MixedReference[]): MixedReference[] {
  return leading(references, LIST_BYTES);
}

function limitationsOf({ page, limitations }: SeenPage, https: boolean): string[] {
  if (page === null) return [...limitations];
  if (!https)
    return ["The page itself came over HTTP: nothing of it is mixed, and nothing of it is safe.", ...limitations];
  return ["Only the HTML was read: style sheets, scripts and frames may load more.", ...limitations];
}
