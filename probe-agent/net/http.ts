import type { SecureContext } from "node:tls";
import type { Clock } from "#shared/time/clock.ts";
import type { Egress } from "#shared/internet/egress.ts";
import { failed, ok, refused, type Failed, type Outcome } from "#shared/contracts/outcome.ts";
import { unredacted, type Redact } from "#shared/text/redact.ts";
import { resolveTrusted } from "#probe-agent/net/dns/trusted.ts";
import type { JobLimits } from "#probe-agent/port/job-limits.ts";
import type { DnsPort } from "#probe-agent/port/dns.ts";
import type { DeadEnd, Hop, HttpBody, HttpPort, HttpRequest, PageSnapshot } from "#probe-agent/port/http.ts";
import { createBodyCollector } from "#probe-agent/net/http/body.ts";
import { createCookieJar, type CookieJar, type Sent } from "#probe-agent/net/http/cookie-jar.ts";
import { openHop, type OpenHop } from "#probe-agent/net/http/hop.ts";
import type { HopContext } from "#probe-agent/net/http/hop-connection.ts";
import { isRedirectStatus } from "#probe-agent/analysis/http/status.ts";
import { redirected } from "#probe-agent/net/http/redirect.ts";
import { forOtherOrigin, requestHeaders, type HopRequest } from "#probe-agent/net/http/request.ts";
import { permissiveContext } from "#probe-agent/net/http/secure.ts";
import { trustedRoots } from "#probe-agent/net/tls/roots.ts";

/** Dependencies of the HTTP engine that all jobs share. */
interface HttpDeps {
  readonly clock: Clock;
  readonly egress: Egress;
  /** Sent if a request has no User-Agent of its own (shared/process/user-agent.ts). */
  readonly userAgent: string;
  /** PEM texts of the trusted roots. Default: Node's bundled roots and NODE_EXTRA_CA_CERTS. */
  readonly roots?: readonly string[];
}

const MAX_REDIRECTS = 10;
const MAX_BODY_BYTES = 5 * 1024 * 1024;
const ALPN = ["h2", "http/1.1"] as const;

/**
 * Creates the HTTP client of the agent. Every hop repeats all steps: egress rules on the URL, DNS lookup, rules on the
 * addresses, connect, rule on the peer, TLS, request. The job's signal limits all of them. Reasons of failures are in
 * http/failure.ts.
 */
export function createHttp(deps: HttpDeps): (job: JobLimits, dns: DnsPort) => HttpPort {
  const secureContext = permissiveContext(deps.roots);
  return (job, dns) => ({
    async fetch(request) {
      const { timeoutMs } = request;
      if (timeoutMs === undefined) return fetchPage(request, deps, job, dns, secureContext);
      const own = new AbortController();
      const timer = setTimeout(() => own.abort(), timeoutMs);
      const signal = AbortSignal.any([job.signal, own.signal]);
      const deadline = Math.min(job.deadline, deps.clock.monotonic() + timeoutMs);
      try {
        return await fetchPage(request, deps, { ...job, signal, deadline }, boundedDns(dns, signal), secureContext);
      } finally {
        clearTimeout(timer);
      }
    },
  });
}

/**
 * Limits lookups to a fetch's deadline. A lookup itself runs until the job's deadline; a fetch with a shorter one stops
 * waiting for it.
 */
function boundedDns(dns: DnsPort, signal: AbortSignal): DnsPort {
  const late = new Promise<Failed>((resolve) => {
    const expire = () => resolve(failed("dns", "resolver", "timeout", "the DNS lookup timed out"));
    if (signal.aborted) expire();
    else signal.addEventListener("abort", expire, { once: true });
  });
  return { ...dns, resolve: (host, only) => Promise.race([dns.resolve(host, only), late]) };
}

async function fetchPage(
  request: HttpRequest,
  deps: HttpDeps,
  job: JobLimits,
  dns: DnsPort,
  secureContext: SecureContext,
): Promise<Outcome<PageSnapshot>> {
  const chainStartedAt = deps.clock.monotonic();
  const { redact = unredacted } = request;
  const headers = requestHeaders(request, deps.userAgent);
  if (!headers.ok) return headers.invalid;
  const start = firstUrl(request, deps.egress);
  if (start.status !== "ok") return start;

  const hops: Promise<Hop>[] = [];
  const contextFor = (url: URL): HopContext => {
    // Only the service's own origin is trusted: an open redirect of it must not lead into the private network.
    const trusted = request.trusted === true && url.origin === start.data.origin;
    return {
      clock: deps.clock,
      signal: job.signal,
      deadline: job.deadline,
      egress: trusted ? null : deps.egress,
      secureContext,
      trust: { roots: deps.roots ?? trustedRoots(), now: () => job.now() },
      verifiesSentChain: request.verifiesSentChain ?? true,
      alpn: request.alpn ?? (request.httpVersion === "1.0" ? [] : ALPN),
      resolve: (host) => (trusted ? resolveTrusted(dns, host) : dns.resolve(host)),
      chainStartedAt,
      startedAt: hops.length === 0 ? chainStartedAt : deps.clock.monotonic(),
      redact,
    };
  };

  const seen = new Set<string>();
  const jar = createCookieJar();
  let current: HopRequest = {
    url: start.data,
    method: request.method,
    headers: headers.headers,
    body: request.body ?? null,
    ...(request.httpVersion === undefined ? {} : { httpVersion: request.httpVersion }),
    ...(request.h2c === undefined ? {} : { h2c: request.h2c }),
  };
  for (;;) {
    const cookies = cookiesOf(current, jar);
    const context = contextFor(current.url);
    const opened = await openWithFallback(withCookies(current, cookies), context);
    if (opened.status !== "ok") {
      const final = await hops.at(-1);
      if (opened.status !== "failed" || final === undefined) return opened;
      if (request.keepDeadEnd !== true)
        return { ...opened, message: withFailedUrl(hops.length, current.url, opened.message, redact) };
      const elapsedUs = Math.round((deps.clock.monotonic() - context.startedAt) * 1000);
      const deadEnd = { url: current.url.href, failure: opened, elapsedUs };
      const last = { hop: final, body: NO_BODY };
      return ok(snapshot(request.url, await Promise.all(hops.slice(0, -1)), last, "dead_end", deadEnd));
    }
    const { code, target, setCookies } = opened.data;
    if (!request.follow || !isRedirectStatus(code)) return await finish(opened.data, null);
    if (target.next === null) return await finish(opened.data, "bad_location");

    const verdict = mayFollow(target.next, context.egress === null ? start.data.origin : null, deps.egress);
    if (verdict !== "ok") {
      if (verdict === "bad_location") return await finish(opened.data, "bad_location");
      void opened.data.skip();
      return refused;
    }
    const isSameOrigin = target.next.origin === current.url.origin;
    const following = redirected(isSameOrigin ? current : forOtherOrigin(current), code, target.next);
    jar.keep(current.url, setCookies, job.now());
    seen.add(visitKey(current, cookies));
    if (seen.has(visitKey(following, cookiesOf(following, jar)))) return await finish(opened.data, "loop");
    if (hops.length >= (request.maxRedirects ?? MAX_REDIRECTS)) return await finish(opened.data, "too_many_redirects");
    hops.push(opened.data.skip());
    current = following;
  }

  async function finish(open: OpenHop, stopped: PageSnapshot["stopped"]): Promise<Outcome<PageSnapshot>> {
    const trial = request.tryOtherFamily === true ? open.tryOtherFamily() : null;
    const read = await readFinal(open, request);
    if (read.status !== "ok") {
      trial?.cancel();
      if (read.status !== "failed" || hops.length === 0) return read;
      return { ...read, message: withRedactedHost(read.message, current.url, redact) };
    }
    const page = snapshot(request.url, await Promise.all(hops), read.data, stopped);
    return ok(request.tryOtherFamily === true ? { ...page, otherFamily: (await trial?.attempt) ?? null } : page);
  }
}

async function readFinal(open: OpenHop, request: HttpRequest): ReturnType<OpenHop["read"]> {
  const { maxBodyBytes = MAX_BODY_BYTES, bodyTimeoutMs, needsBody } = request;
  return maxBodyBytes === 0 || needsBody?.(open) === false
    ? ok({ hop: await open.skip(), body: NO_BODY })
    : await open.read(maxBodyBytes, typeof bodyTimeoutMs === "function" ? bodyTimeoutMs() : bodyTimeoutMs);
}

/** Maximum length of a URL in a message, in characters. */
const MAX_SHOWN_URL = 300;

/** Adds the failed URL to a message, because the user requested another one. A server has named it. */
function withFailedUrl(count: number, url: URL, message: string, redact: Redact): string {
  const shown = redact(url.href).slice(0, MAX_SHOWN_URL);
  const words = withRedactedHost(message, url, redact);
  return `after ${count === 1 ? "1 redirect" : `${count} redirects`}, at ${shown}: ${words}`;
}

/** Redacts the host of a redirect in our words. */
function withRedactedHost(message: string, { hostname }: URL, redact: Redact): string {
  return message.replaceAll(hostname, () => redact(hostname));
}

/** The body of a response whose header was enough. */
const NO_BODY = await createBodyCollector([], 0).finish(null);

function snapshot(
  url: string,
  earlier: readonly Hop[],
  last: { readonly hop: Hop; readonly body: HttpBody },
  stopped: PageSnapshot["stopped"],
  deadEnd?: DeadEnd,
): PageSnapshot {
  const { hop: final, body } = last;
  const elapsedUs = final.startedAtUs + final.timing.total;
  const hops = [...earlier, final];
  return { url, finalUrl: final.url, hops, final, body, stopped, ...(deadEnd && { deadEnd }), elapsedUs };
}

function firstUrl(request: HttpRequest, egress: Egress): Outcome<URL> {
  const invalid = {
    status: "invalid",
    field: "url",
    message: "must be an http or https URL that can be requested",
  } as const;
  if (request.trusted === true) {
    const url = URL.parse(request.url);
    return url === null || !/^https?:$/.test(url.protocol) ? invalid : ok(url);
  }
  const check = egress.checkUrl(request.url);
  if (check.ok) return ok(check.url);
  return check.code === "invalid_url" ? invalid : refused;
}

/**
 * Reports whether a redirect can be followed. The rules do not apply to `trustedOrigin`. User information in a Location
 * is refused because it would send foreign credentials.
 */
function mayFollow(next: URL, trustedOrigin: string | null, egress: Egress): "ok" | "refused" | "bad_location" {
  if (next.username !== "" || next.password !== "") return "refused";
  if (next.origin === trustedOrigin) return "ok";
  const check = egress.checkUrl(next.href);
  if (check.ok) return "ok";
  return check.code === "target_not_allowed" ? "refused" : "bad_location";
}

/** Returns the cookies that the chain has collected, unless the caller sends its own. */
function cookiesOf({ url, headers }: HopRequest, jar: CookieJar): readonly Sent[] {
  return headers.some(([name]) => name.toLowerCase() === "cookie") ? [] : jar.cookiesFor(url);
}

function withCookies(request: HopRequest, cookies: readonly Sent[]): HopRequest {
  if (cookies.length === 0) return request;
  return { ...request, headers: [...request.headers, ["Cookie", cookies.map(({ pair }) => pair).join("; ")]] };
}

/**
 * Returns a key that detects loops. Fragments are not sent, so URLs that differ only in them are the same request.
 * Cookie names count; values do not, because some servers create new values each time.
 */
function visitKey({ method, url }: HopRequest, cookies: readonly Sent[]): string {
  const names = cookies.map(({ name }) => name).toSorted();
  return JSON.stringify([method, url.origin + url.pathname + url.search, names]);
}

/**
 * Opens a hop, and opens it again with HTTP/1.1 if the server requires that for the request, e.g. for client
 * certificates (RFC 9113 section 7).
 */
async function openWithFallback(request: HopRequest, context: HopContext): Promise<Outcome<OpenHop>> {
  const opened = await openHop(request, context);
  const retry =
    opened.status === "failed" && opened.reason === "http_1_1_required" && context.alpn.includes("http/1.1");
  return retry
    ? await openHop(request, { ...context, alpn: ["http/1.1"], startedAt: context.clock.monotonic() })
    : opened;
}
