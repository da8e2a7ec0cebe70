import { check } from "#probe-agent/tools/check.ts";
import { cms } from "#probe-agent/tools/cms.ts";
import { cookie } from "#probe-agent/tools/cookie.ts";
import { cors } from "#probe-agent/tools/cors.ts";
import { csp } from "#probe-agent/tools/csp.ts";
import { dkim } from "#probe-agent/tools/dkim.ts";
import { dns } from "#probe-agent/tools/dns.ts";
import { emailCheck } from "#probe-agent/tools/email-check.ts";
import { emailHeader } from "#probe-agent/tools/email-header.ts";
import { health } from "#probe-agent/tools/health.ts";
import { httpStatus } from "#probe-agent/tools/http-status.ts";
import { ip } from "#probe-agent/tools/ip.ts";
import { mixedContent } from "#probe-agent/tools/mixed-content.ts";
import { mx } from "#probe-agent/tools/mx.ts";
import { ogPreview } from "#probe-agent/tools/og-preview.ts";
import { ping } from "#probe-agent/tools/ping.ts";
import { propagation } from "#probe-agent/tools/propagation.ts";
import { protocol } from "#probe-agent/tools/protocol.ts";
import { redirects } from "#probe-agent/tools/redirects.ts";
import { resolveUrl } from "#probe-agent/tools/resolve-url.ts";
import { robots } from "#probe-agent/tools/robots.ts";
import { schema } from "#probe-agent/tools/schema.ts";
import { security } from "#probe-agent/tools/security.ts";
import { seoAudit } from "#probe-agent/tools/seo-audit.ts";
import { smtpTest } from "#probe-agent/tools/smtp-test.ts";
import { ssl } from "#probe-agent/tools/ssl.ts";
import { techDetect } from "#probe-agent/tools/tech-detect.ts";
import { aiCheck } from "#probe-agent/tools/ai-check.ts";
import { carbon } from "#probe-agent/tools/carbon.ts";
import { performance } from "#probe-agent/tools/performance.ts";
import { pagespeed } from "#probe-agent/tools/pagespeed.ts";
import { asn } from "#probe-agent/tools/asn.ts";
import { reverseIp } from "#probe-agent/tools/reverse-ip.ts";
import { traceroute } from "#probe-agent/tools/traceroute.ts";
import { urlExpand } from "#probe-agent/tools/url-expand.ts";
import { wayback } from "#probe-agent/tools/wayback.ts";
import { whois } from "#probe-agent/tools/whois.ts";
import type { Implementation } from "#probe-agent/tools/implement.ts";

/** Every implementation by its contract's name. The registry laws hold it against the catalogue. */
export const implementations: ReadonlyMap<string, Implementation> = new Map(
  [
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
  ].map((tool) => [tool.contract.name, tool as unknown as Implementation]),
);
