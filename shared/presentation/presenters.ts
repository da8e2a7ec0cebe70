import type { Presenter } from "#shared/presentation/presenter.ts";
import { aiCheck } from "#shared/presentation/tools/ai-check.ts";
import { asn } from "#shared/presentation/tools/asn.ts";
import { carbon } from "#shared/presentation/tools/carbon.ts";
import { check } from "#shared/presentation/tools/check.ts";
import { cms } from "#shared/presentation/tools/cms.ts";
import { cookie } from "#shared/presentation/tools/cookie.ts";
import { cors } from "#shared/presentation/tools/cors.ts";
import { csp } from "#shared/presentation/tools/csp.ts";
import { dkim } from "#shared/presentation/tools/dkim.ts";
import { dns } from "#shared/presentation/tools/dns.ts";
import { emailCheck } from "#shared/presentation/tools/email-check.ts";
import { emailHeader } from "#shared/presentation/tools/email-header.ts";
import { health } from "#shared/presentation/tools/health.ts";
import { httpStatus } from "#shared/presentation/tools/http-status.ts";
import { ip } from "#shared/presentation/tools/ip.ts";
import { mixedContent } from "#shared/presentation/tools/mixed-content.ts";
import { mx } from "#shared/presentation/tools/mx.ts";
import { ogPreview } from "#shared/presentation/tools/og-preview.ts";
import { pagespeed } from "#shared/presentation/tools/pagespeed.ts";
import { performance } from "#shared/presentation/tools/performance.ts";
import { ping } from "#shared/presentation/tools/ping.ts";
import { propagation } from "#shared/presentation/tools/propagation.ts";
import { protocol } from "#shared/presentation/tools/protocol.ts";
import { redirects } from "#shared/presentation/tools/redirects.ts";
import { resolveUrl } from "#shared/presentation/tools/resolve-url.ts";
import { reverseIp } from "#shared/presentation/tools/reverse-ip.ts";
import { robots } from "#shared/presentation/tools/robots.ts";
import { schema } from "#shared/presentation/tools/schema.ts";
import { security } from "#shared/presentation/tools/security.ts";
import { seoAudit } from "#shared/presentation/tools/seo-audit.ts";
import { smtpTest } from "#shared/presentation/tools/smtp-test.ts";
import { ssl } from "#shared/presentation/tools/ssl.ts";
import { techDetect } from "#shared/presentation/tools/tech-detect.ts";
import { traceroute } from "#shared/presentation/tools/traceroute.ts";
import { urlExpand } from "#shared/presentation/tools/url-expand.ts";
import { wayback } from "#shared/presentation/tools/wayback.ts";
import { whois } from "#shared/presentation/tools/whois.ts";

const PRESENTERS: readonly Presenter[] = [
  aiCheck,
  asn,
  carbon,
  check,
  cms,
  cookie,
  cors,
  csp,
  dkim,
  dns,
  emailCheck,
  emailHeader,
  health,
  httpStatus,
  ip,
  mixedContent,
  mx,
  ogPreview,
  pagespeed,
  performance,
  ping,
  propagation,
  protocol,
  redirects,
  resolveUrl,
  reverseIp,
  robots,
  schema,
  security,
  seoAudit,
  smtpTest,
  ssl,
  techDetect,
  traceroute,
  urlExpand,
  wayback,
  whois,
];

/** Every presenter by the name of its tool. */
export const presentersByTool: ReadonlyMap<string, Presenter> = new Map(
  PRESENTERS.map((presenter) => [presenter.contract.name, presenter]),
);
