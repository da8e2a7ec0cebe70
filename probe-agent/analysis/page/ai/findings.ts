import type { Finding, Severity } from "#shared/findings.ts";
import type { AiCheck, AiCheckId } from "#probe-agent/analysis/page/ai/score.ts";

interface Advice {
  /** Where the check fails; where it is met in part, the finding is info. */
  readonly severity: Severity;
  readonly how: string;
  readonly reference: string;
  readonly where: string | null;
}

const MAX_NAMED = 5;
const SEARCH = "https://developers.google.com/search/docs";

/** By the check. To keep AI services out is a choice: only what also keeps search and readers out is a warning. */
export const AI_ADVICE: Readonly<Record<AiCheckId, Advice>> = {
  robots: {
    severity: "warning",
    how: 'Serve /robots.txt with status 200 as text/plain, e.g. "User-agent: *" and "Disallow:", or answer with status 404.',
    reference: "https://www.rfc-editor.org/rfc/rfc9309#section-2.3.1",
    where: "/robots.txt",
  },
  crawlers: {
    severity: "warning",
    how: 'To let one in, add a group to robots.txt, e.g. "User-agent: OAI-SearchBot" and "Allow: /".',
    reference: "https://www.rfc-editor.org/rfc/rfc9309#section-2.2",
    where: "/robots.txt",
  },
  static_text: {
    severity: "warning",
    how: "Render the text on the server or at build time, so that the HTML holds it before scripts run.",
    reference: `${SEARCH}/crawling-indexing/javascript/javascript-seo-basics`,
    where: null,
  },
  structured_data: {
    severity: "info",
    how: 'Add to the head, e.g. <script type="application/ld+json">{"@context": "https://schema.org", "@type": "Organization", "name": "..."}</script>.',
    reference: `${SEARCH}/appearance/structured-data/intro-structured-data`,
    where: null,
  },
  llms_txt: {
    severity: "info",
    how: 'Publish /llms.txt as plain text: a line "# Name of the site", a line "> What it is", then sections "## Docs" of links "- [Title](https://...): notes".',
    reference: "https://llmstxt.org/",
    where: "/llms.txt",
  },
  sitemap: {
    severity: "info",
    how: 'Publish /sitemap.xml, and name it in robots.txt with a line "Sitemap:" and its full address.',
    reference: "https://www.sitemaps.org/protocol.html",
    where: "/sitemap.xml",
  },
  semantic_html: {
    severity: "info",
    how: "Put the content into main and article elements, with one h1 and headings that skip no level.",
    reference: "https://developer.mozilla.org/en-US/docs/Glossary/Semantics",
    where: null,
  },
  description: {
    severity: "info",
    how: 'Add <meta name="description" content="..."> to the head.',
    reference: `${SEARCH}/appearance/snippet`,
    where: null,
  },
  preference: {
    severity: "info",
    how: 'State what you allow in robots.txt, e.g. "Content-Signal: search=yes, ai-input=yes, ai-train=no" below "User-agent: *".',
    reference: "https://contentsignals.org/",
    where: "/robots.txt",
  },
  no_blanket_ban: {
    severity: "info",
    how: "If that is not intended, remove these directives from the robots meta element and the header X-Robots-Tag.",
    reference: "https://developers.google.com/search/docs/crawling-indexing/robots-meta-tag",
    where: null,
  },
};

/** One finding for each check that is not met in full. `barred`: AI search crawlers and assistants that robots.txt keeps out. */
export function aiFindings(checks: readonly AiCheck[], barred: readonly string[]): Finding[] {
  return checks.flatMap(({ id, status, detail }) => {
    if (status !== "fail" && status !== "partial") return [];
    const { severity, how, reference, where } = AI_ADVICE[id];
    const names = id === "crawlers" && barred.length > 0 ? ` ${named(barred)}` : "";
    return [
      {
        id: id.replaceAll("_", "-"),
        severity: status === "fail" ? severity : ("info" as const),
        message: `${detail}${names}`,
        how,
        reference,
        where,
      },
    ];
  });
}

function named(barred: readonly string[]): string {
  return `robots.txt keeps out ${barred.slice(0, MAX_NAMED).join(", ")}${barred.length > MAX_NAMED ? " and others" : ""}.`;
}
