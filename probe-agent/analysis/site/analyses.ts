import { containsText } from "#probe-agent/analysis/html/contains-text.ts";
import { readHtml, onPage, type RawPage } from "#probe-agent/analysis/html/read-page.ts";
import { parseLlmsTxt } from "#probe-agent/analysis/page/ai/llms-txt.ts";
import { isJsonObject, parseTdmRep } from "#probe-agent/analysis/page/ai/page-declarations.ts";
import { aiPage } from "#probe-agent/analysis/page/ai/page.ts";
import { readCookies } from "#probe-agent/analysis/web/cookies/report.ts";
import { cspReport } from "#probe-agent/analysis/web/csp/report.ts";
import { analyseHeadersPlaced, hopAddresses } from "#probe-agent/analysis/mail/email-headers.ts";
import { healthReport } from "#probe-agent/analysis/site/health/report.ts";
import { parseMtaStsPolicy } from "#probe-agent/analysis/mail/domain/mta-sts.ts";
import { mixedContentReport } from "#probe-agent/analysis/page/mixed-content-report.ts";
import { pageResources } from "#probe-agent/analysis/page/page-resources.ts";
import { readRegistration } from "#probe-agent/analysis/registry/rdap/registration.ts";
import { readLanding } from "#probe-agent/analysis/web/redirects/landing.ts";
import { namedSitemaps, robotsForAi, robotsReport } from "#probe-agent/analysis/web/robots/rules.ts";
import { checkJson } from "#probe-agent/analysis/text/json-condition.ts";
import { securityReport } from "#probe-agent/analysis/web/security/report.ts";
import { readSeoPage } from "#probe-agent/analysis/page/seo/audit.ts";
import { auditSeo } from "#probe-agent/analysis/page/seo/checks.ts";
import { readSocial } from "#probe-agent/analysis/page/social/preview.ts";
import { structuredReport } from "#probe-agent/analysis/page/structured/report.ts";
import { trackersReport } from "#probe-agent/analysis/page/trackers.ts";
import { readDomainWhois, readNumberWhois } from "#probe-agent/analysis/registry/whois/answers.ts";

/**
 * Analyses of untrusted data that can take long, by name: pure functions from one plain value to another. A thread of
 * the agent runs them by this table, so input and output contain neither functions nor instances of classes.
 */
export const ANALYSES = {
  schema: onPage(({ page, url }) => structuredReport(page ?? readHtml(""), url)),
  "og-preview": onPage(({ page, url }) => readSocial(page ?? readHtml(""), url)),
  "mixed-content": onPage(mixedContentReport),
  csp: onPage(cspReport),
  security: onPage(securityReport),
  trackers: onPage(trackersReport),
  health: onPage(healthReport),
  "seo-page": onPage(readSeoPage),
  "seo-audit": auditSeo,
  "ai-page": onPage(aiPage),
  "ai-robots": robotsForAi,
  robots: robotsReport,
  sitemaps: namedSitemaps,
  resources: onPage(pageResources),
  landing: onPage(readLanding),
  "email-addresses": hopAddresses,
  "email-header": analyseHeadersPlaced,
  cookies: readCookies,
  "llms-txt": parseLlmsTxt,
  tdmrep: parseTdmRep,
  "json-object": isJsonObject,
  "json-condition": checkJson,
  "contains-text": containsText,
  "mta-sts": parseMtaStsPolicy,
  rdap: readRegistration,
  "whois-domain": readDomainWhois,
  "whois-number": readNumberWhois,
};

/** Name of an analysis. */
export type AnalysisName = keyof typeof ANALYSES;
/** Input of an analysis. */
export type InputOf<Name extends AnalysisName> = Parameters<(typeof ANALYSES)[Name]>[0];
/** Output of an analysis. */
export type ReportOf<Name extends AnalysisName> = ReturnType<(typeof ANALYSES)[Name]>;

/** Names of the analyses of pages. */
export type PageAnalysisName = {
  [Name in AnalysisName]: InputOf<Name> extends { readonly raw: RawPage } ? Name : never;
}[AnalysisName];
