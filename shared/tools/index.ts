// Written by `npm run tools` from shared/tools/names.ts: do not edit.
import { check } from "#shared/tools/check/contract.ts";
import { dns } from "#shared/tools/dns/contract.ts";
import { ssl } from "#shared/tools/ssl/contract.ts";
import { ip } from "#shared/tools/ip/contract.ts";
import { ping } from "#shared/tools/ping/contract.ts";
import { health } from "#shared/tools/health/contract.ts";
import { cookie } from "#shared/tools/cookie/contract.ts";
import { cors } from "#shared/tools/cors/contract.ts";
import { csp } from "#shared/tools/csp/contract.ts";
import { httpStatus } from "#shared/tools/http-status/contract.ts";
import { redirects } from "#shared/tools/redirects/contract.ts";
import { protocol } from "#shared/tools/protocol/contract.ts";
import { mixedContent } from "#shared/tools/mixed-content/contract.ts";
import { schema } from "#shared/tools/schema/contract.ts";
import { robots } from "#shared/tools/robots/contract.ts";
import { techDetect } from "#shared/tools/tech-detect/contract.ts";
import { ogPreview } from "#shared/tools/og-preview/contract.ts";
import { cms } from "#shared/tools/cms/contract.ts";
import { urlExpand } from "#shared/tools/url-expand/contract.ts";
import { resolveUrl } from "#shared/tools/resolve-url/contract.ts";
import { wayback } from "#shared/tools/wayback/contract.ts";
import { security } from "#shared/tools/security/contract.ts";
import { seoAudit } from "#shared/tools/seo-audit/contract.ts";
import { aiCheck } from "#shared/tools/ai-check/contract.ts";
import { carbon } from "#shared/tools/carbon/contract.ts";
import { performance } from "#shared/tools/performance/contract.ts";
import { pagespeed } from "#shared/tools/pagespeed/contract.ts";
import { mx } from "#shared/tools/mx/contract.ts";
import { dkim } from "#shared/tools/dkim/contract.ts";
import { emailCheck } from "#shared/tools/email-check/contract.ts";
import { emailHeader } from "#shared/tools/email-header/contract.ts";
import { propagation } from "#shared/tools/propagation/contract.ts";
import { smtpTest } from "#shared/tools/smtp-test/contract.ts";
import { whois } from "#shared/tools/whois/contract.ts";
import { asn } from "#shared/tools/asn/contract.ts";
import { reverseIp } from "#shared/tools/reverse-ip/contract.ts";
import { traceroute } from "#shared/tools/traceroute/contract.ts";
import { check as checkPresenter } from "#shared/tools/check/presenter.ts";
import { dns as dnsPresenter } from "#shared/tools/dns/presenter.ts";
import { ssl as sslPresenter } from "#shared/tools/ssl/presenter.ts";
import { ip as ipPresenter } from "#shared/tools/ip/presenter.ts";
import { ping as pingPresenter } from "#shared/tools/ping/presenter.ts";
import { health as healthPresenter } from "#shared/tools/health/presenter.ts";
import { cookie as cookiePresenter } from "#shared/tools/cookie/presenter.ts";
import { cors as corsPresenter } from "#shared/tools/cors/presenter.ts";
import { csp as cspPresenter } from "#shared/tools/csp/presenter.ts";
import { httpStatus as httpStatusPresenter } from "#shared/tools/http-status/presenter.ts";
import { redirects as redirectsPresenter } from "#shared/tools/redirects/presenter.ts";
import { protocol as protocolPresenter } from "#shared/tools/protocol/presenter.ts";
import { mixedContent as mixedContentPresenter } from "#shared/tools/mixed-content/presenter.ts";
import { schema as schemaPresenter } from "#shared/tools/schema/presenter.ts";
import { robots as robotsPresenter } from "#shared/tools/robots/presenter.ts";
import { techDetect as techDetectPresenter } from "#shared/tools/tech-detect/presenter.ts";
import { ogPreview as ogPreviewPresenter } from "#shared/tools/og-preview/presenter.ts";
import { cms as cmsPresenter } from "#shared/tools/cms/presenter.ts";
import { urlExpand as urlExpandPresenter } from "#shared/tools/url-expand/presenter.ts";
import { resolveUrl as resolveUrlPresenter } from "#shared/tools/resolve-url/presenter.ts";
import { wayback as waybackPresenter } from "#shared/tools/wayback/presenter.ts";
import { security as securityPresenter } from "#shared/tools/security/presenter.ts";
import { seoAudit as seoAuditPresenter } from "#shared/tools/seo-audit/presenter.ts";
import { aiCheck as aiCheckPresenter } from "#shared/tools/ai-check/presenter.ts";
import { carbon as carbonPresenter } from "#shared/tools/carbon/presenter.ts";
import { performance as performancePresenter } from "#shared/tools/performance/presenter.ts";
import { pagespeed as pagespeedPresenter } from "#shared/tools/pagespeed/presenter.ts";
import { mx as mxPresenter } from "#shared/tools/mx/presenter.ts";
import { dkim as dkimPresenter } from "#shared/tools/dkim/presenter.ts";
import { emailCheck as emailCheckPresenter } from "#shared/tools/email-check/presenter.ts";
import { emailHeader as emailHeaderPresenter } from "#shared/tools/email-header/presenter.ts";
import { propagation as propagationPresenter } from "#shared/tools/propagation/presenter.ts";
import { smtpTest as smtpTestPresenter } from "#shared/tools/smtp-test/presenter.ts";
import { whois as whoisPresenter } from "#shared/tools/whois/presenter.ts";
import { asn as asnPresenter } from "#shared/tools/asn/presenter.ts";
import { reverseIp as reverseIpPresenter } from "#shared/tools/reverse-ip/presenter.ts";
import { traceroute as traceroutePresenter } from "#shared/tools/traceroute/presenter.ts";
import type { Contract } from "#shared/tools/define.ts";
import type { Presenter } from "#shared/tools/define-presenter.ts";
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

/** Every presenter by its tool's name. */
export const presentersByTool: ReadonlyMap<string, Presenter> = new Map(
  Object.entries({
    check: checkPresenter,
    dns: dnsPresenter,
    ssl: sslPresenter,
    ip: ipPresenter,
    ping: pingPresenter,
    health: healthPresenter,
    cookie: cookiePresenter,
    cors: corsPresenter,
    csp: cspPresenter,
    "http-status": httpStatusPresenter,
    redirects: redirectsPresenter,
    protocol: protocolPresenter,
    "mixed-content": mixedContentPresenter,
    schema: schemaPresenter,
    robots: robotsPresenter,
    "tech-detect": techDetectPresenter,
    "og-preview": ogPreviewPresenter,
    cms: cmsPresenter,
    "url-expand": urlExpandPresenter,
    "resolve-url": resolveUrlPresenter,
    wayback: waybackPresenter,
    security: securityPresenter,
    "seo-audit": seoAuditPresenter,
    "ai-check": aiCheckPresenter,
    carbon: carbonPresenter,
    performance: performancePresenter,
    pagespeed: pagespeedPresenter,
    mx: mxPresenter,
    dkim: dkimPresenter,
    "email-check": emailCheckPresenter,
    "email-header": emailHeaderPresenter,
    propagation: propagationPresenter,
    "smtp-test": smtpTestPresenter,
    whois: whoisPresenter,
    asn: asnPresenter,
    "reverse-ip": reverseIpPresenter,
    traceroute: traceroutePresenter,
  } satisfies Readonly<Record<ToolName, Presenter>>),
);
