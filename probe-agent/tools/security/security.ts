import { ok } from "#shared/contracts/outcome.ts";
import { security as contract } from "#shared/tools/security/contract.ts";
import { waitAtMost } from "#shared/time/time-limit.ts";
import { securityAnalysis } from "#probe-agent/tools/security/report.ts";
import { leadingText, leading } from "#probe-agent/analysis/text/json-size.ts";
import type { HttpFacts } from "#probe-agent/analysis/site/snapshot.ts";
import { fitFindings } from "#probe-agent/analysis/text/findings.ts";
import { describePreloadFaults } from "#probe-agent/analysis/web/security/described-findings.ts";
import { ALGORITHM_VERSION, isGradable } from "#probe-agent/analysis/web/security-headers.ts";
import { parseHsts } from "#probe-agent/analysis/web/security/hsts.ts";
import { evaluatePreload, type PreloadEvidence } from "#probe-agent/analysis/web/security/preload.ts";
import { headerValues, type HeaderPair, joinedHeader } from "#probe-agent/analysis/http/header-list.ts";
import { unknown } from "#probe-agent/analysis/text/unknown-fact.ts";
import { isTooComplex } from "#probe-agent/sources/run-analysis.ts";
import {
  describeSnapshot,
  limitationsOf,
  analysePage,
  fetchSlowPage,
  HTML_NOT_EXAMINED,
  type FetchedPage,
} from "#probe-agent/sources/page.ts";
import { askPlainHttp } from "#probe-agent/sources/plain-http.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { WebPorts } from "#probe-agent/tools/health/health.ts";
import { implement, type Implementation } from "#probe-agent/tools/implement.ts";
import { literalFamily } from "#shared/egress/addresses.ts";
import { registrableDomain } from "#shared/internet/registrable-domain.ts";
import type { SecuritySnapshot } from "#probe-agent/analysis/web/security/snapshot.ts";
import type { Hop, PageSnapshot } from "#probe-agent/port/http.ts";

/** A header in the result. */
interface ShownHeader {
  readonly name: string;
  readonly value: string;
}

/** Security headers that a response has and lacks, and all its headers. */
interface HeaderInventory {
  readonly present: ShownHeader[];
  readonly missing: string[];
  /** All headers in wire order, without the values of cookies. */
  readonly raw: ShownHeader[];
  /** Whether some headers are not listed. */
  readonly cut: boolean;
}

/** Headers a page should have. */
const WANTED = [
  "Content-Security-Policy",
  "Strict-Transport-Security",
  "X-Content-Type-Options",
  "X-Frame-Options",
  "Referrer-Policy",
  "Permissions-Policy",
  "Cross-Origin-Opener-Policy",
  "Cross-Origin-Resource-Policy",
  "Cross-Origin-Embedder-Policy",
];

const VALUE_BYTES = 4096;
const RAW_BYTES = 80_000;

/** Lists a response's headers. */
export function headerInventory(headers: readonly HeaderPair[]): HeaderInventory {
  const present: ShownHeader[] = [];
  const missing: string[] = [];
  for (const name of WANTED) {
    const value = joinedHeader(headers, name.toLowerCase());
    if (value === null) missing.push(name);
    else present.push({ name, value: leadingText(value, VALUE_BYTES) });
  }
  const raw = leading(headers.map(showHeader), RAW_BYTES);
  return { present, missing, raw, cut: raw.length < headers.length };
}

function showHeader([name, value]: HeaderPair): ShownHeader {
  const hidden = name.toLowerCase() === "set-cookie" ? value.replace(/^([^=;]*=)?[^;]*/, "$1(hidden)") : value;
  return { name: leadingText(name, VALUE_BYTES), value: leadingText(hidden, VALUE_BYTES) };
}

/** Time reserved for the grade after all requests, in milliseconds. */
const RESERVE_MS = 1500;
const HTTPS_MS = 6000;
const HSTS_BYTES = 1024;

/** Creates the tool for these ports. It fetches the page, then, in parallel, the other facts that MDN's grade needs. */
export function securityOn(
  ports: WebPorts,
): Implementation<typeof contract.params.properties, typeof contract.result.properties> {
  return implement(contract, async (net, { url }) => {
    const now = net.now();
    const asked = await fetchSlowPage(net, url);
    if (asked.status !== "ok") return asked;
    const secure = await securePage(net, asked.data, ports);
    const seen = secure ?? asked.data;
    const { snapshot: page } = seen;
    const { final, finalUrl } = page;
    const patience = net.remainingMs() - RESERVE_MS;
    const late = unknown("The response of http:// is unknown: it took too long.");
    const [http, cors, evidence] = await Promise.all([
      waitAtMost<HttpFacts>(patience, askPlainHttp(net, asked.data.snapshot, ports.http), late),
      waitAtMost(patience, gatherCors(net, finalUrl), null),
      waitAtMost<PreloadEvidence | null>(patience, gatherPreload(net, page, ports), null),
    ]);
    const host = new URL(finalUrl).hostname;
    const preloaded = net.data.hstsPreload(host);
    const siteFacts = {
      https: finalUrl.startsWith("https:") || secure !== null,
      verified: isVerified(page),
      redirects: http.known && http.open ? http.route : [],
      cors,
      hsts_preloaded: preloaded,
    };
    const inventory = headerInventory(final.headers);
    const gradable = isGradable(final.code);
    const facts = { now, snapshot: siteFacts, redirectionKnown: http.known };
    const read = gradable ? await analysePage(net, seen, securityAnalysis, facts) : null;
    if (read !== null && read.status !== "ok" && !isTooComplex(read)) return read;
    const graded = read?.status === "ok" ? read.data : null;
    const preload = evidence === null ? { eligible: null, faults: [] } : evaluatePreload(evidence);
    const { failed, ...grade } = graded?.report ?? NOT_GRADED;
    const hsts = hstsOf(finalUrl, final.headers);
    const { findings } = fitFindings([
      ...failed,
      ...describePreloadFaults(preload.faults, hsts.preload, evidence?.domain ?? null),
    ]);
    return ok({
      url,
      final_url: finalUrl,
      code: final.code,
      ...grade,
      algorithm_version: ALGORITHM_VERSION,
      headers: { present: inventory.present, missing: inventory.missing, raw: inventory.raw },
      hsts: {
        ...hsts,
        preloaded: net.data.hasHstsPreload ? preloaded !== null : null,
        preloaded_include_subdomains: preloaded?.include_subdomains ?? null,
        preload_domain: evidence?.domain ?? null,
        preload_eligible: preload.eligible,
      },
      findings,
      source: net.data.hasHstsPreload ? ["page", "hsts_preload_list"] : ["page"],
      observed_at: asked.data.observedAt,
      limitations: [
        ...(gradable ? [] : [`Only responses with status 2xx, 3xx, 401 and 403 are graded, not ${final.code}.`]),
        ...(secure === null
          ? []
          : ["http:// does not redirect to HTTPS. As MDN does, the page at https:// was graded."]),
        ...(http.known ? [] : [http.why, "The test redirection was left out."]),
        ...(cors === null ? ["The response of the site to other origins is unknown."] : []),
        ...(net.data.hasHstsPreload ? [] : ["This probe has no HSTS preload list. An entry in it adds 5 points."]),
        ...(evidence === null ? ["It is unknown whether the domain can enter the preload list."] : []),
        ...(inventory.cut ? ["Not all headers are listed."] : []),
        ...(read === null || graded !== null ? [] : [`${HTML_NOT_EXAMINED} Without it there is no grade.`]),
        ...(graded?.limitations ?? limitationsOf(seen)),
      ],
    });
  });
}

/** The tool on the standard ports. */
export const security = securityOn({ http: 80, https: 443 });

/**
 * Fetches the page over https:// if it was loaded over http://, because MDN grades https:// if it responds. Returns
 * null if the page was loaded over https://, or if https:// does not respond.
 */
async function securePage(net: Net, { snapshot }: FetchedPage, ports: WebPorts): Promise<FetchedPage | null> {
  if (snapshot.finalUrl.startsWith("https:")) return null;
  const url = new URL(snapshot.finalUrl);
  url.protocol = "https:";
  url.port = String(ports.https);
  const observedAt = net.now().toISOString();
  const request = {
    url: url.href,
    method: "GET",
    follow: true,
    timeoutMs: HTTPS_MS,
    bodyTimeoutMs: HTTPS_MS / 2,
  } as const;
  const fetched = await net.http.fetch(request);
  return fetched.status === "ok" ? describeSnapshot(fetched.data, observedAt) : null;
}

const NOT_GRADED = {
  score: null,
  raw_score: null,
  grade: null,
  mdn: null,
  failed: [],
  tests: [],
  duplicate_directives: [],
};

/** Parses HSTS of the page. Over http browsers ignore it (RFC 6797 section 8.1). */
function hstsOf(url: string, headers: readonly HeaderPair[]) {
  const [value] = url.startsWith("https:") ? headerValues(headers, "strict-transport-security") : [];
  if (value === undefined) return { value: null, max_age_s: null, include_subdomains: false, preload: false };
  const { maxAge, includeSubDomains, preload } = parseHsts(value);
  return { value: leadingText(value, HSTS_BYTES), max_age_s: maxAge, include_subdomains: includeSubDomains, preload };
}

/** Timeout of each additional request, in milliseconds. */
const PATIENCE_MS = 6000;
/** An origin that belongs to no one (RFC 2606). */
const ORIGIN = "https://evil.example";

/** Reports whether every TLS server of the redirect chain has a certificate that browsers trust. */
function isVerified(page: PageSnapshot): boolean {
  return page.hops.every((hop) => hop.tls === null || hop.tls.authorized);
}

/** Sends a preflight with a foreign origin, as MDN does. Returns null if there is no response. */
async function gatherCors(net: Net, url: string): Promise<SecuritySnapshot["cors"]> {
  const fetched = await net.http.fetch({
    url,
    method: "OPTIONS",
    headers: [
      ["Origin", ORIGIN],
      ["Access-Control-Request-Method", "GET"],
    ],
    follow: false,
    maxBodyBytes: 0,
    verifiesSentChain: false,
    timeoutMs: PATIENCE_MS,
  });
  return fetched.status === "ok" ? { origin: ORIGIN, headers: fetched.data.final.headers } : null;
}

/** Requests the registrable domain of a page over https:// and http://. Reuses a response of the page's own chain. */
async function gatherPreload(net: Net, page: PageSnapshot, ports: WebPorts): Promise<PreloadEvidence> {
  const host = new URL(page.finalUrl).hostname.replace(/^\[|\]$/g, "");
  const domain = literalFamily(host) === null ? registrableDomain(host) : null;
  if (domain === null) return { domain, https: null, http: null };
  const [https, http] = await Promise.all([fetchSecure(net, page, domain, ports), fetchPlain(net, domain, ports)]);
  return { domain, https, http };
}

async function fetchSecure(
  net: Net,
  page: PageSnapshot,
  domain: string,
  ports: WebPorts,
): Promise<PreloadEvidence["https"]> {
  const seen = page.hops.find(({ url }) => url.startsWith("https:") && new URL(url).hostname === domain);
  if (seen !== undefined) return secureFacts(seen);
  const fetched = await fetchFirst(net, `https://${domain}:${ports.https}/`);
  if (fetched.status === "ok") return secureFacts(fetched.data.final);
  return fetched.status === "failed" && fetched.source === "target" ? { answered: false } : null;
}

function secureFacts({ tls, headers }: Hop): PreloadEvidence["https"] {
  return {
    answered: true,
    verified: tls?.authorized === true,
    hsts: headerValues(headers, "strict-transport-security"),
  };
}

async function fetchPlain(net: Net, domain: string, ports: WebPorts): Promise<PreloadEvidence["http"]> {
  const fetched = await fetchFirst(net, `http://${domain}:${ports.http}/`);
  if (fetched.status === "ok") {
    const { code, location } = fetched.data.final;
    return { open: true, location: code >= 300 && code < 400 ? location : null };
  }
  const closed = fetched.status === "failed" && fetched.stage === "connect" && fetched.source === "target";
  return closed ? { open: false } : null;
}

function fetchFirst(net: Net, url: string) {
  return net.http.fetch({ url, method: "GET", follow: false, maxBodyBytes: 0, timeoutMs: PATIENCE_MS });
}
