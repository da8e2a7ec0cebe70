import type { Analysis } from "#probe-agent/analysis/analysis.ts";
import { containsTextAnalysis } from "#probe-agent/analysis/html/contains-text.ts";
import { mtaStsAnalysis } from "#probe-agent/analysis/mail/mta-sts.ts";
import { hopAddressesAnalysis, emailHeaderAnalysis } from "#probe-agent/tools/email-header/analyse.ts";
import { llmsTxtAnalysis } from "#probe-agent/tools/ai-check/llms-txt.ts";
import { tdmRepAnalysis, jsonObjectAnalysis } from "#probe-agent/tools/ai-check/page-declarations.ts";
import { aiPageAnalysis } from "#probe-agent/tools/ai-check/page.ts";
import { mixedContentAnalysis } from "#probe-agent/tools/mixed-content/report.ts";
import { resourcesAnalysis } from "#probe-agent/analysis/page/page-resources.ts";
import { seoPageAnalysis } from "#probe-agent/tools/seo-audit/audit.ts";
import { seoAuditAnalysis } from "#probe-agent/tools/seo-audit/checks.ts";
import { socialAnalysis } from "#probe-agent/tools/og-preview/preview.ts";
import { schemaAnalysis } from "#probe-agent/tools/schema/report.ts";
import { trackersAnalysis } from "#probe-agent/tools/cookie/trackers.ts";
import { registrationAnalysis } from "#probe-agent/analysis/registry/rdap/registration.ts";
import { domainWhoisAnalysis, numberWhoisAnalysis } from "#probe-agent/tools/whois/analyses.ts";
import { healthAnalysis } from "#probe-agent/tools/health/report.ts";
import { jsonConditionAnalysis } from "#probe-agent/analysis/text/json-condition.ts";
import { cookiesAnalysis } from "#probe-agent/tools/cookie/report.ts";
import { cspAnalysis } from "#probe-agent/tools/csp/report.ts";
import { landingAnalysis } from "#probe-agent/analysis/web/redirect-landing.ts";
import { aiRobotsAnalysis, robotsAnalysis, sitemapsAnalysis } from "#probe-agent/analysis/web/robots/rules.ts";
import { securityAnalysis } from "#probe-agent/tools/security/report.ts";

const LISTED: readonly Analysis<never, unknown>[] = [
  schemaAnalysis,
  socialAnalysis,
  mixedContentAnalysis,
  cspAnalysis,
  securityAnalysis,
  trackersAnalysis,
  healthAnalysis,
  seoPageAnalysis,
  seoAuditAnalysis,
  aiPageAnalysis,
  aiRobotsAnalysis,
  robotsAnalysis,
  sitemapsAnalysis,
  resourcesAnalysis,
  landingAnalysis,
  hopAddressesAnalysis,
  emailHeaderAnalysis,
  cookiesAnalysis,
  llmsTxtAnalysis,
  tdmRepAnalysis,
  jsonObjectAnalysis,
  jsonConditionAnalysis,
  containsTextAnalysis,
  mtaStsAnalysis,
  registrationAnalysis,
  domainWhoisAnalysis,
  numberWhoisAnalysis,
];

/** Every analysis that a thread can run, by its name. */
export const ANALYSES: ReadonlyMap<string, Analysis<never, unknown>> = new Map(
  LISTED.map((analysis) => [analysis.name, analysis]),
);
