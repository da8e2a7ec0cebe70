import { analyseCsp } from "#probe-agent/analysis/web/csp.ts";
import { deliveredPolicies, enforcedTexts } from "#probe-agent/analysis/web/csp/delivery.ts";
import {
  adviseOn,
  finding,
  fitFindings,
  type AdviceTable,
  type FindingDraft,
} from "#probe-agent/analysis/text/findings.ts";
import { leading } from "#probe-agent/analysis/text/json-size.ts";
import { definePageAnalysis, readHtml, type ReadPage } from "#probe-agent/analysis/html/read-page.ts";
import { findMixedContent, type MixedReference, type MixedContent } from "#probe-agent/analysis/page/mixed-content.ts";
import type { Finding } from "#shared/contracts/findings.ts";

/** Maximum size of each list as JSON, in bytes. */
const LIST_BYTES = 50_000;

const REFERENCE = "https://developer.mozilla.org/en-US/docs/Web/Security/Mixed_content";
const UPGRADE =
  "Use https:// in these addresses, or send the header Content-Security-Policy: upgrade-insecure-requests";
/** Maximum number of URLs in a message, and the maximum length of one in characters. */
const MAX_NAMED = 3;
const MAX_URL = 150;

/** Severity and advice for each kind of finding. The context is whether the policy blocks all mixed content. */
const MIXED_ADVICE = {
  "page-not-encrypted": {
    severity: "warning",
    how: "Serve the page over https and redirect http to it.",
    reference: REFERENCE,
  },
  "active-content-upgraded": {
    severity: "info",
    how: "Use https:// in these addresses, because older clients ignore the policy.",
    reference: REFERENCE,
  },
  "active-content-blocked": { severity: "warning", how: UPGRADE, reference: REFERENCE },
  "passive-content-blocked": {
    severity: "warning",
    how: (blocked) =>
      blocked
        ? UPGRADE
        : "Serve these files over https from a host name. Browsers do not upgrade requests to IP addresses.",
    reference: REFERENCE,
  },
  "passive-content-upgraded": { severity: "info", how: "Use https:// in these addresses.", reference: REFERENCE },
  "form-not-encrypted": { severity: "warning", how: "Use https:// in the action of the form.", reference: REFERENCE },
} as const satisfies AdviceTable<string, boolean>;

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

/** Mixed content of a page. */
export const mixedContentAnalysis = definePageAnalysis("mixed-content", mixedContentReport);

function cutList(references: readonly MixedReference[]): MixedReference[] {
  return leading(references, LIST_BYTES);
}

/**
 * Returns a finding for each kind of insecure reference: what browsers do with it, and the first few with their lines.
 */
export function describeMixedContent(found: MixedContent, blocksAll: boolean): Finding[] {
  const { https, counts, active, passive, forms, upgradeInsecureRequests } = found;
  if (!https) {
    const message = "The page is served over http: anyone on the network can read and change it.";
    return adviseOn(MIXED_ADVICE, [finding("page-not-encrypted", null, message)], false);
  }
  const blocked = !upgradeInsecureRequests && blocksAll;
  const upgraded = passive.filter(({ upgradable }) => upgradable);
  const lost = passive.filter(({ upgradable }) => !upgradable);
  const drafts: FindingDraft<keyof typeof MIXED_ADVICE>[] = [];
  const add = (id: keyof typeof MIXED_ADVICE, message: string): void => void drafts.push(finding(id, null, message));
  if (counts.active > 0) {
    const what = `${countReferences(counts.active)} to scripts, styles or frames: ${describeFirst(active)}`;
    if (upgradeInsecureRequests) add("active-content-upgraded", `The policy upgrades ${what}.`);
    else add("active-content-blocked", `Browsers block ${what}.`);
  }
  if ((blocked ? counts.passive : lost.length) > 0) {
    const what = `${countReferences(blocked ? counts.passive : lost.length)} to images, audio or video`;
    add("passive-content-blocked", `Browsers block ${what}: ${describeFirst(blocked ? passive : lost)}.`);
  }
  if (!blocked && counts.passive > lost.length) {
    const what = `${countReferences(counts.passive - lost.length)} to images, audio or video over https`;
    add(
      "passive-content-upgraded",
      `Browsers request ${what}: ${describeFirst(upgraded)}. If a request over https fails, the file is missing.`,
    );
  }
  if (counts.forms > 0) {
    const what = `${counts.forms} forms or buttons submit to an http address: ${describeFirst(forms)}`;
    add(
      "form-not-encrypted",
      `${what}. Browsers show a warning, and anyone on the network can read the submitted data.`,
    );
  }
  return adviseOn(MIXED_ADVICE, drafts, blocked);
}

function describeFirst(references: readonly MixedReference[]): string {
  const shown = references.slice(0, MAX_NAMED).map(({ url, line }) => `${url.slice(0, MAX_URL)} (line ${line})`);
  return `${shown.join(", ")}${references.length > MAX_NAMED ? ", ..." : ""}`;
}

function countReferences(count: number): string {
  return count === 1 ? "1 http reference" : `${count} http references`;
}
