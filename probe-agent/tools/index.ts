// Written by `npm run tools` from shared/tools/names.ts: do not edit.
import { check } from "#probe-agent/tools/check/check.ts";
import { dns } from "#probe-agent/tools/dns/dns.ts";
import { ssl } from "#probe-agent/tools/ssl/ssl.ts";
import { ip } from "#probe-agent/tools/ip/ip.ts";
import { ping } from "#probe-agent/tools/ping/ping.ts";
import { health } from "#probe-agent/tools/health/health.ts";
import { cookie } from "#probe-agent/tools/cookie/cookie.ts";
import { cors } from "#probe-agent/tools/cors/cors.ts";
import { csp } from "#probe-agent/tools/csp/csp.ts";
import { httpStatus } from "#probe-agent/tools/http-status/http-status.ts";
import { redirects } from "#probe-agent/tools/redirects.ts";
import { protocol } from "#probe-agent/tools/protocol/protocol.ts";
import { mixedContent } from "#probe-agent/tools/mixed-content/mixed-content.ts";
import { schema } from "#probe-agent/tools/schema/schema.ts";
import { robots } from "#probe-agent/tools/robots/robots.ts";
import { techDetect } from "#probe-agent/tools/tech-detect.ts";
import { ogPreview } from "#probe-agent/tools/og-preview/og-preview.ts";
import { cms } from "#probe-agent/tools/cms/cms.ts";
import { urlExpand } from "#probe-agent/tools/url-expand.ts";
import { resolveUrl } from "#probe-agent/tools/resolve-url.ts";
import { wayback } from "#probe-agent/tools/wayback.ts";
import { security } from "#probe-agent/tools/security/security.ts";
import { seoAudit } from "#probe-agent/tools/seo-audit/seo-audit.ts";
import { aiCheck } from "#probe-agent/tools/ai-check/ai-check.ts";
import { carbon } from "#probe-agent/tools/carbon.ts";
import { performance } from "#probe-agent/tools/performance/performance.ts";
import { pagespeed } from "#probe-agent/tools/pagespeed/pagespeed.ts";
import { mx } from "#probe-agent/tools/mx/mx.ts";
import { dkim } from "#probe-agent/tools/dkim/dkim.ts";
import { emailCheck } from "#probe-agent/tools/email-check/email-check.ts";
import { emailHeader } from "#probe-agent/tools/email-header/email-header.ts";
import { propagation } from "#probe-agent/tools/propagation/propagation.ts";
import { smtpTest } from "#probe-agent/tools/smtp-test/smtp-test.ts";
import { whois } from "#probe-agent/tools/whois/whois.ts";
import { asn } from "#probe-agent/tools/asn/asn.ts";
import { reverseIp } from "#probe-agent/tools/reverse-ip/reverse-ip.ts";
import { traceroute } from "#probe-agent/tools/traceroute.ts";
import type { Implementation, ImplementationOf } from "#probe-agent/tools/implement.ts";
import type { contractsByName } from "#shared/tools/index.ts";

/** Every implementation by its tool's name; the compiler checks that it fulfils the contract of that name. */
const implementationsByName: {
  readonly [Name in keyof typeof contractsByName]: ImplementationOf<(typeof contractsByName)[Name]>;
} = {
  check,
  dns,
  ssl,
  ip,
  ping,
  health,
  cookie,
  cors,
  csp,
  "http-status": httpStatus,
  redirects,
  protocol,
  "mixed-content": mixedContent,
  schema,
  robots,
  "tech-detect": techDetect,
  "og-preview": ogPreview,
  cms,
  "url-expand": urlExpand,
  "resolve-url": resolveUrl,
  wayback,
  security,
  "seo-audit": seoAudit,
  "ai-check": aiCheck,
  carbon,
  performance,
  pagespeed,
  mx,
  dkim,
  "email-check": emailCheck,
  "email-header": emailHeader,
  propagation,
  "smtp-test": smtpTest,
  whois,
  asn,
  "reverse-ip": reverseIp,
  traceroute,
};

/** Every implementation by its tool's name. */
export const implementations: ReadonlyMap<string, Implementation> = new Map(
  Object.entries(implementationsByName as unknown as Record<string, Implementation>),
);
