import { headerValues } from "#probe-agent/analysis/http/header-list.ts";
import { createCookieJar } from "#probe-agent/net/http/cookie-jar.ts";
import type { WireRequest } from "#probe-agent/net/http/request.ts";
import { authorize, basicOf, type PostForm } from "#probe-agent/exporter/http/credentials.ts";
import {
  hostOf,
  openHop,
  type BodyPlan,
  type Hop,
  type HopAnswer,
  type HopTimes,
} from "#probe-agent/exporter/http/hop.ts";
import { follow, readRedirect } from "#probe-agent/exporter/http/redirects.ts";
import { chooseProxy } from "#probe-agent/exporter/http/route.ts";
import type { HttpOptions } from "#shared/blackbox/module.ts";
import type { Probe, ProberContext } from "#probe-agent/exporter/probe.ts";
import { readSecret } from "#probe-agent/exporter/read-secret.ts";

/** Maximum number of redirects that are followed. */
const MOST_REDIRECTS = 10;

/** Builds the first request. The fields of the module replace those that we set. */
export async function firstRequest(
  url: URL,
  options: HttpOptions,
  probe: Probe,
  context: ProberContext,
): Promise<WireRequest | { readonly fault: string }> {
  const body = options.body === null ? null : await readSecret(options.body);
  if (body !== null && "fault" in body) return body;
  const given = Object.entries(options.headers).map(([name, value]) => [name, latin1(value)] as const);
  const has = (name: string): boolean => given.some(([known]) => known.toLowerCase() === name);
  const credentials = has("authorization")
    ? { value: null }
    : await authorize(options, postForm(probe, options, context));
  if ("fault" in credentials) return credentials;
  const authorization = credentials.value ?? (has("authorization") ? null : basicOf(url));
  const headers = given.filter(([name]) => name.toLowerCase() !== "host");
  if (!has("user-agent")) headers.push(["User-Agent", context.userAgent]);
  if (authorization !== null) headers.push(["Authorization", authorization]);
  const host = given.find(([name]) => name.toLowerCase() === "host")?.[1];
  return {
    url,
    method: options.method,
    headers,
    body: body === null || body.text === "" ? null : Buffer.from(body.text),
    ...(host === undefined ? {} : { host }),
  };
}

/** Returns a text as octets of UTF-8, one character each, as fields are written. */
function latin1(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

/** What a chain of redirects ended with. */
interface Fetched {
  /** null: no answer. */
  readonly answer: HopAnswer | null;
  /** Whether the answer is the end of the chain; else one that is not followed, whose body is not read. */
  readonly isFollowed: boolean;
  readonly redirects: number;
  readonly times: readonly HopTimes[];
}

/** Sends a request and those that answers redirect to, each on a connection of its own. Does not read the last body. */
export async function followRedirects(
  first: WireRequest,
  resolved: string | null,
  plan: BodyPlan,
  options: HttpOptions,
  probe: Probe,
  context: ProberContext,
): Promise<Fetched> {
  const { log } = probe;
  const jar = createCookieJar();
  const times: HopTimes[] = [];
  const own = options.tls_config.server_name;
  let request = first;
  let ip = resolved;
  let serverName = own === "" ? (hostName(first.host) ?? hostOf(first.url)) : own;
  for (let redirects = 0; ; redirects += 1) {
    const cookies = jar.cookiesFor(request.url).map(({ pair }) => pair);
    const sent = cookies.length === 0 ? request : withCookies(request, cookies.join("; "));
    const proxy = chooseProxy(request.url, options.proxy, context.proxyEnvironment);
    log("info", "Making HTTP request", { url: describeUrl(request.url), host: request.host ?? request.url.host });
    const hopTimes = newTimes();
    times.push(hopTimes);
    const hop: Hop = { request: sent, ip, serverName, proxy };
    const answer = await openHop(hop, options, plan, hopTimes, probe, context);
    if ("fault" in answer) {
      log("error", "Error for HTTP request", { err: answer.fault });
      return { answer: null, isFollowed: true, redirects, times };
    }
    jar.keep(request.url, headerValues(answer.head.headers, "set-cookie"), context.clock.now());
    const redirect = readRedirect(answer.head, request.url);
    if (redirect.kind === "none") return { answer, isFollowed: true, redirects, times };
    answer.close();
    if (redirect.kind === "broken") {
      log("error", "Error for HTTP request", { err: `failed to follow Location header ${redirect.location}` });
      return { answer: null, isFollowed: true, redirects: redirect.isUrl ? redirects + 1 : redirects, times };
    }
    log("info", "Received redirect", { location: redirect.location });
    if (!context.allowsRedirect(redirect.url)) {
      log("error", "Error for HTTP request", { err: "the redirect leads to a target that is not allowed" });
      return { answer: null, isFollowed: true, redirects: redirects + 1, times };
    }
    if (redirects >= MOST_REDIRECTS || !options.follow_redirects) {
      log("info", "Not following redirect");
      return { answer, isFollowed: false, redirects: redirects + 1, times };
    }
    if (!redirect.isRelative) {
      ip = null;
      serverName = hostOf(redirect.url);
    }
    request = follow(request, answer.head.code, redirect);
  }
}

function newTimes(): HopTimes {
  return {
    start: 0,
    dnsDone: 0,
    connectDone: null,
    tlsStart: null,
    tlsDone: null,
    gotConn: null,
    responseStart: null,
    end: null,
  };
}

function withCookies(request: WireRequest, cookies: string): WireRequest {
  return { ...request, headers: [...request.headers, ["Cookie", cookies]] };
}

/** Returns the name in a Host field, without its port. */
function hostName(host: string | undefined): string | undefined {
  return host === undefined ? undefined : host.replace(/:\d{1,5}$/, "");
}

/** A URL for the log, without what is before its host. */
function describeUrl(url: URL): string {
  return `${url.origin}${url.pathname}${url.search}`.slice(0, 2000);
}

/** Maximum octets of a token endpoint's answer. */
const MOST_TOKEN_OCTETS = 1 << 20;

/** Sends a form to a token endpoint, which the operator has named: its address is not judged. */
function postForm(probe: Probe, options: HttpOptions, context: ProberContext): PostForm {
  return async ({ token_url: target, tls_config, proxy }, form, authorization) => {
    const url = new URL(target);
    const request: WireRequest = {
      url,
      method: "POST",
      headers: [
        ["User-Agent", context.userAgent],
        ["Content-Type", "application/x-www-form-urlencoded"],
        ...(authorization === null ? [] : [["Authorization", authorization] as const]),
      ],
      body: Buffer.from(form.toString()),
    };
    const trusting = { ...context, allows: () => true };
    const plan: BodyPlan = { compression: "", maxBytes: MOST_TOKEN_OCTETS, keeps: true };
    const hop: Hop = {
      request,
      ip: null,
      serverName: tls_config.server_name || hostOf(url),
      proxy: chooseProxy(url, proxy, context.proxyEnvironment),
    };
    const answer = await openHop(hop, { ...options, tls_config, proxy }, plan, newTimes(), probe, trusting);
    if ("fault" in answer) return answer;
    const body = await answer.readBody();
    return body.fault === null ? { code: answer.head.code, body: body.bytes.toString("utf8") } : { fault: body.fault };
  };
}
