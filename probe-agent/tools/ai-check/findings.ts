import { adviseOn, finding, type AdviceTable } from "#probe-agent/analysis/text/findings.ts";
import type { Finding } from "#shared/contracts/findings.ts";
import type { AiCheck, AiCheckId } from "#probe-agent/tools/ai-check/score.ts";

/** Maximum number of blocked crawlers that a message names. */
const MAX_NAMED = 5;
const SEARCH = "https://developers.google.com/search/docs";

/** Files of the site that checks are about. The other checks are about the page. */
const FILES: Readonly<Partial<Record<AiCheckId, string>>> = {
  robots: "/robots.txt",
  crawlers: "/robots.txt",
  llms_txt: "/llms.txt",
  sitemap: "/sitemap.xml",
  preference: "/robots.txt",
};

/**
 * Severity and advice for each check that fails. Blocking AI services is the owner's choice, so only faults that also
 * keep out search and readers are warnings.
 */
export const AI_ADVICE: AdviceTable<AiCheckId> = {
  robots: {
    severity: "warning",
    how: 'Serve /robots.txt with status 200 as text/plain, e.g. "User-agent: *" and "Disallow:", or return status 404.',
    reference: "https://www.rfc-editor.org/rfc/rfc9309#section-2.3.1",
  },
  crawlers: {
    severity: "warning",
    how: 'To allow a crawler, add a group for it to robots.txt, e.g. "User-agent: OAI-SearchBot" and "Allow: /".',
    reference: "https://www.rfc-editor.org/rfc/rfc9309#section-2.2",
  },
  static_text: {
    severity: "warning",
    how: "Render the text on the server or at build time, so that the HTML contains it before scripts run.",
    reference: `${SEARCH}/crawling-indexing/javascript/javascript-seo-basics`,
  },
  structured_data: {
    severity: "info",
    how: 'Add structured data to the head, e.g. <script type="application/ld+json">{"@context": "https://schema.org", "@type": "Organization", "name": "..."}</script>.',
    reference: `${SEARCH}/appearance/structured-data/intro-structured-data`,
  },
  llms_txt: {
    severity: "info",
    how: 'Publish /llms.txt as plain text: a line "# Name of the site", a line "> Summary of the site", then sections such as "## Docs" with links "- [Title](https://...): notes".',
    reference: "https://llmstxt.org/",
  },
  sitemap: {
    severity: "info",
    how: 'Publish /sitemap.xml, and add a line "Sitemap:" with its full URL to robots.txt.',
    reference: "https://www.sitemaps.org/protocol.html",
  },
  semantic_html: {
    severity: "info",
    how: "Put the content into main and article elements. Use one h1 and headings that skip no level.",
    reference: "https://developer.mozilla.org/en-US/docs/Glossary/Semantics",
  },
  description: {
    severity: "info",
    how: 'Add <meta name="description" content="..."> to the head.',
    reference: `${SEARCH}/appearance/snippet`,
  },
  preference: {
    severity: "info",
    how: 'State in robots.txt which AI uses you allow, e.g. "Content-Signal: search=yes, ai-input=yes, ai-train=no" below "User-agent: *".',
    reference: "https://contentsignals.org/",
  },
  no_blanket_ban: {
    severity: "info",
    how: "If this is not intended, remove these directives from the robots meta element and the X-Robots-Tag header.",
    reference: "https://developers.google.com/search/docs/crawling-indexing/robots-meta-tag",
  },
};

/**
 * Returns one finding for each check that is not met in full, as info if it is met in part. `blocked` names the AI search crawlers and assistants that
 * robots.txt blocks.
 */
export function aiFindings(checks: readonly AiCheck[], blocked: readonly string[]): Finding[] {
  const drafts = checks.flatMap(({ id, status, detail }) => {
    if (status !== "fail" && status !== "partial") return [];
    const names = id === "crawlers" && blocked.length > 0 ? ` ${describeBlocked(blocked)}` : "";
    return [finding(id, FILES[id] ?? null, `${detail}${names}`, status === "fail" ? undefined : "info")];
  });
  return adviseOn(AI_ADVICE, drafts, null);
}

function describeBlocked(blocked: readonly string[]): string {
  return `robots.txt blocks ${blocked.slice(0, MAX_NAMED).join(", ")}${blocked.length > MAX_NAMED ? " and others" : ""}.`;
}
