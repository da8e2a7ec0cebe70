import type { Page } from "#probe-agent/analysis/html/read-page.ts";
import { walkElements } from "#probe-agent/analysis/html/document.ts";
import { attribute, INERT_ELEMENTS } from "#probe-agent/analysis/html/page.ts";
import { cspFinding, type CspFinding } from "#probe-agent/analysis/web/csp/finding.ts";
import type { PolicyText } from "#probe-agent/analysis/web/csp/parse.ts";
import { headerValues, type HeaderPair } from "#probe-agent/analysis/http/header-list.ts";

/** Policies of a response as browsers read them, and findings about policies in meta elements. */
interface CspDelivery {
  readonly texts: readonly PolicyText[];
  readonly findings: readonly CspFinding[];
}

/** Elements before the body. Any other element opens the body (HTML, "in head" and "after head" insertion modes). */
const BEFORE_BODY = new Set([
  "html",
  "head",
  "base",
  "basefont",
  "bgsound",
  "link",
  "meta",
  "noframes",
  "noscript",
  "script",
  "style",
  "template",
  "title",
]);

/** Returns the header policies, then the effective meta policies in document order. `page` is null without HTML. */
export function deliveredPolicies(headers: readonly HeaderPair[], page: Page | null): CspDelivery {
  const texts: PolicyText[] = [
    ...headerValues(headers, "content-security-policy").map((header) => ({ header })),
    ...headerValues(headers, "content-security-policy-report-only").map((header) => ({ header, reportOnly: true })),
  ];
  const findings: CspFinding[] = [];
  let scriptSeen = false;
  let bodySeen = false;
  for (const element of page === null ? [] : walkElements(page.document.root, INERT_ELEMENTS)) {
    if (element.name === "script") scriptSeen = true;
    bodySeen ||= !BEFORE_BODY.has(element.name);
    if (element.name !== "meta") continue;
    const pragma = attribute(element, "http-equiv")?.toLowerCase();
    if (pragma === "content-security-policy-report-only") findings.push(REPORT_ONLY_IN_META);
    if (pragma !== "content-security-policy") continue;
    if (bodySeen) {
      findings.push(META_OUTSIDE_HEAD);
      continue;
    }
    if (scriptSeen) findings.push(META_AFTER_SCRIPT);
    texts.push({ header: attribute(element, "content") ?? "", meta: true });
  }
  return { texts, findings: [...new Set(findings)] };
}

/** Returns the enforced policies, from headers and meta elements. */
export function enforcedTexts({ texts }: CspDelivery): readonly PolicyText[] {
  return texts.filter((text) => text.reportOnly !== true);
}

const META_AFTER_SCRIPT = cspFinding("meta_after_script", "medium", "meta");
const META_OUTSIDE_HEAD = cspFinding("meta_outside_head", "high", "meta");
const REPORT_ONLY_IN_META = cspFinding("report_only_in_meta", "syntax", "meta");
