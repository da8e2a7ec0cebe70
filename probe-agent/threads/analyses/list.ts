import type { Analysis } from "#probe-agent/analysis/analysis.ts";
import { containsTextAnalysis } from "#probe-agent/analysis/html/contains-text.ts";
import { mtaStsAnalysis } from "#probe-agent/analysis/mail/domain/mta-sts.ts";
import { hopAddressesAnalysis, emailHeaderAnalysis } from "#probe-agent/analysis/mail/email-headers.ts";
import { llmsTxtAnalysis } from "#probe-agent/analysis/page/ai/llms-txt.ts";
import { tdmRepAnalysis, jsonObjectAnalysis } from "#probe-agent/analysis/page/ai/page-declarations.ts";
import { aiPageAnalysis } from "#probe-agent/analysis/page/ai/page.ts";
import { mixedContentAnalysis } from "#probe-agent/analysis/page/mixed-content-report.ts";
import { resourcesAnalysis } from "#probe-agent/analysis/page/page-resources.ts";
import { seoPageAnalysis } from "#probe-agent/analysis/page/seo/audit.ts";
import { seoAuditAnalysis } from "#probe-agent/analysis/page/seo/checks.ts";
import { socialAnalysis } from "#probe-agent/analysis/page/social/preview.ts";
import { schemaAnalysis } from "#probe-agent/analysis/page/structured/report.ts";
import { trackersAnalysis } from "#probe-agent/analysis/page/trackers.ts";
import { registrationAnalysis } from "#probe-agent/analysis/registry/rdap/registration.ts";
import { domainWhoisAnalysis, numberWhoisAnalysis } from "#probe-agent/analysis/registry/whois/answers.ts";
import { healthAnalysis } from "#probe-agent/analysis/site/health/report.ts";
import { jsonConditionAnalysis } from "#probe-agent/analysis/text/json-condition.ts";
import { cookiesAnalysis } from "#probe-agent/analysis/web/cookies/report.ts";
import { cspAnalysis } from "#probe-agent/analysis/web/csp/report.ts";
import { landingAnalysis } from "#probe-agent/analysis/web/redirects/landing.ts";
import { aiRobotsAnalysis, robotsAnalysis, sitemapsAnalysis } from "#probe-agent/analysis/web/robots/rules.ts";
import { securityAnalysis } from "#probe-agent/analysis/web/security/report.ts";

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
