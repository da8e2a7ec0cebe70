import { analyseCsp } from "#probe-agent/analysis/csp.ts";
import { deliveredPolicies, enforcedTexts } from "#probe-agent/analysis/web/csp/delivery.ts";
import { fitFindings } from "#probe-agent/analysis/text/findings.ts";
import { leading } from "#probe-agent/analysis/text/json-size.ts";
import { readHtml } from "#probe-agent/analysis/html/read-page.ts";
import { findMixedContent, type MixedReference, type MixedContent } from "#probe-agent/analysis/page/mixed-content.ts";
import type { ReadPage } from "#probe-agent/analysis/html/pages/reading.ts";
import type { Finding } from "#shared/findings.ts";

/** Maximum size of each list as JSON, in bytes. */
const LIST_BYTES = 50_000;

const REFERENCE = "https://developer.mozilla.org/en-US/docs/Web/Security/Mixed_content";
/** Maximum number of URLs in a message, and the maximum length of one in characters. */
const MAX_NAMED = 3;
const MAX_URL = 150;

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

/**
 * Returns a finding for each kind of insecure reference: what browsers do with it, and the first few with their lines.
 */
export function describeMixedContent(found: MixedContent, blocksAll: boolean): Finding[] {
  const { https, counts, active, passive, forms, upgradeInsecureRequests } = found;
  const base = { severity: "warning", reference: REFERENCE, where: null } as const;
  const upgrade =
    "Use https:// in these addresses, or send the header Content-Security-Policy: upgrade-insecure-requests";
  if (!https) {
    const message = "The page is served over http: anyone on the network can read and change it.";
    return [{ ...base, id: "page-not-encrypted", message, how: "Serve the page over https and redirect http to it." }];
  }
  const blocked = !upgradeInsecureRequests && blocksAll;
  const lost = passive.filter(({ upgradable }) => !upgradable);
  return [
    ...(counts.active > 0
      ? [
          upgradeInsecureRequests
            ? {
                ...base,
                id: "active-content-upgraded",
                severity: "info" as const,
                message: `The policy upgrades ${countReferences(counts.active)} to scripts, styles or frames: ${describeFirst(active)}.`,
                how: "Use https:// in these addresses, because older clients ignore the policy.",
              }
            : {
                ...base,
                id: "active-content-blocked",
                message: `Browsers block ${countReferences(counts.active)} to scripts, styles or frames: ${describeFirst(active)}.`,
                how: upgrade,
              },
        ]
      : []),
    ...(lost.length > 0 || (blocked && counts.passive > 0)
      ? [
          {
            ...base,
            id: "passive-content-blocked",
            message: `Browsers block ${countReferences(blocked ? counts.passive : lost.length)} to images, audio or video: ${describeFirst(blocked ? passive : lost)}.`,
            how: blocked
              ? upgrade
              : "Serve these files over https from a host name. Browsers do not upgrade requests to IP addresses.",
          },
        ]
      : []),
    ...(!blocked && counts.passive > lost.length
      ? [
          {
            ...base,
            id: "passive-content-upgraded",
            severity: "info" as const,
            message: `Browsers request ${countReferences(counts.passive - lost.length)} to images, audio or video over https: ${describeFirst(passive.filter(({ upgradable }) => upgradable))}. If a request over https fails, the file is missing.`,
            how: "Use https:// in these addresses.",
          },
        ]
      : []),
    ...(counts.forms > 0
      ? [
          {
            ...base,
            id: "form-not-encrypted",
            message: `${counts.forms} forms or buttons submit to an http address: ${describeFirst(forms)}. Browsers show a warning, and anyone on the network can read the submitted data.`,
            how: "Use https:// in the action of the form.",
          },
        ]
      : []),
  ];
}

function describeFirst(references: readonly MixedReference[]): string {
  const shown = references.slice(0, MAX_NAMED).map(({ url, line }) => `${url.slice(0, MAX_URL)} (line ${line})`);
  return `${shown.join(", ")}${references.length > MAX_NAMED ? ", ..." : ""}`;
}

function countReferences(count: number): string {
  return count === 1 ? "1 http reference" : `${count} http references`;
}
