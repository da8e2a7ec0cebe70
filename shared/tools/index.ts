import { check } from "#shared/tools/check.ts";
import { cms } from "#shared/tools/cms.ts";
import { cookie } from "#shared/tools/cookie.ts";
import { cors } from "#shared/tools/cors.ts";
import { csp } from "#shared/tools/csp.ts";
import type { Contract } from "#shared/tools/define.ts";
import { dkim } from "#shared/tools/dkim.ts";
import { dns } from "#shared/tools/dns.ts";
import { emailCheck } from "#shared/tools/email-check.ts";
import { emailHeader } from "#shared/tools/email-header.ts";
import { health } from "#shared/tools/health.ts";
import { httpStatus } from "#shared/tools/http-status.ts";
import { ip } from "#shared/tools/ip.ts";
import { mixedContent } from "#shared/tools/mixed-content.ts";
import { mx } from "#shared/tools/mx.ts";
import { ogPreview } from "#shared/tools/og-preview.ts";
import { ping } from "#shared/tools/ping.ts";
import { propagation } from "#shared/tools/propagation.ts";
import { protocol } from "#shared/tools/protocol.ts";
import { redirects } from "#shared/tools/redirects.ts";
import { resolveUrl } from "#shared/tools/resolve-url.ts";
import { robots } from "#shared/tools/robots.ts";
import { schema } from "#shared/tools/schema.ts";
import { security } from "#shared/tools/security.ts";
import { seoAudit } from "#shared/tools/seo-audit.ts";
import { smtpTest } from "#shared/tools/smtp-test.ts";
import { ssl } from "#shared/tools/ssl.ts";
import { techDetect } from "#shared/tools/tech-detect.ts";
import { aiCheck } from "#shared/tools/ai-check.ts";
import { carbon } from "#shared/tools/carbon.ts";
import { performance } from "#shared/tools/performance.ts";
import { pagespeed } from "#shared/tools/pagespeed.ts";
import { asn } from "#shared/tools/asn.ts";
import { reverseIp } from "#shared/tools/reverse-ip.ts";
import { traceroute } from "#shared/tools/traceroute.ts";
import { urlExpand } from "#shared/tools/url-expand.ts";
import { wayback } from "#shared/tools/wayback.ts";
import { whois } from "#shared/tools/whois.ts";

/** Every tool, in the order catalogues and docs show them. A new tool: its file, its line here, its implementation. */
export const CONTRACTS: readonly Contract[] = [
  check,
  dns,
  ssl,
  ip,
  ping,
  health,
  cookie,
  cors,
  csp,
  httpStatus,
  redirects,
  protocol,
  mixedContent,
  schema,
  robots,
  techDetect,
  ogPreview,
  cms,
  urlExpand,
  resolveUrl,
  wayback,
  security,
  seoAudit,
  aiCheck,
  carbon,
  performance,
  pagespeed,
  mx,
  dkim,
  emailCheck,
  emailHeader,
  propagation,
  smtpTest,
  whois,
  asn,
  reverseIp,
  traceroute,
].map((contract) => contract as unknown as Contract);
