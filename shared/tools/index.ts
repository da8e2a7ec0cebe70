// Written by `npm run tools` from shared/tools/names.ts: do not edit.
import { check } from "#shared/tools/check.ts";
import { dns } from "#shared/tools/dns.ts";
import { ssl } from "#shared/tools/ssl.ts";
import { ip } from "#shared/tools/ip.ts";
import { ping } from "#shared/tools/ping.ts";
import { health } from "#shared/tools/health.ts";
import { cookie } from "#shared/tools/cookie.ts";
import { cors } from "#shared/tools/cors.ts";
import { csp } from "#shared/tools/csp.ts";
import { httpStatus } from "#shared/tools/http-status.ts";
import { redirects } from "#shared/tools/redirects.ts";
import { protocol } from "#shared/tools/protocol.ts";
import { mixedContent } from "#shared/tools/mixed-content.ts";
import { schema } from "#shared/tools/schema.ts";
import { robots } from "#shared/tools/robots.ts";
import { techDetect } from "#shared/tools/tech-detect.ts";
import { ogPreview } from "#shared/tools/og-preview.ts";
import { cms } from "#shared/tools/cms.ts";
import { urlExpand } from "#shared/tools/url-expand.ts";
import { resolveUrl } from "#shared/tools/resolve-url.ts";
import { wayback } from "#shared/tools/wayback.ts";
import { security } from "#shared/tools/security.ts";
import { seoAudit } from "#shared/tools/seo-audit.ts";
import { aiCheck } from "#shared/tools/ai-check.ts";
import { carbon } from "#shared/tools/carbon.ts";
import { performance } from "#shared/tools/performance.ts";
import { pagespeed } from "#shared/tools/pagespeed.ts";
import { mx } from "#shared/tools/mx.ts";
import { dkim } from "#shared/tools/dkim.ts";
import { emailCheck } from "#shared/tools/email-check.ts";
import { emailHeader } from "#shared/tools/email-header.ts";
import { propagation } from "#shared/tools/propagation.ts";
import { smtpTest } from "#shared/tools/smtp-test.ts";
import { whois } from "#shared/tools/whois.ts";
import { asn } from "#shared/tools/asn.ts";
import { reverseIp } from "#shared/tools/reverse-ip.ts";
import { traceroute } from "#shared/tools/traceroute.ts";
import type { Contract } from "#shared/tools/define.ts";
import type { ToolName } from "#shared/tools/names.ts";

/** Every contract by its tool's name. */
export const contractsByName = {
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
} satisfies Readonly<Record<ToolName, unknown>>;

/** Every contract, in the order that catalogues and docs show them. */
export const CONTRACTS: readonly Contract[] = Object.values(contractsByName as unknown as Record<ToolName, Contract>);
