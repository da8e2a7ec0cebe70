import { readOrigin } from "#shared/internet/origin.ts";
import { ok } from "#shared/contracts/outcome.ts";
import { cors as contract } from "#shared/tools/cors/contract.ts";
import { analyseCors, type CorsReport, describeCorsFindings } from "#probe-agent/tools/cors/analyse.ts";
import { type CorsExchange, PREFLIGHTED, type CorsAnswer } from "#probe-agent/tools/cors/exchange.ts";
import { fitFindings } from "#probe-agent/analysis/text/findings.ts";
import { leadingText } from "#probe-agent/analysis/text/json-size.ts";
import { plain } from "#probe-agent/analysis/text/plain-data.ts";
import type { PageSnapshot } from "#probe-agent/port/http.ts";
import { implement } from "#probe-agent/tools/implement.ts";
import { probeOrigins } from "#probe-agent/tools/cors/origins.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";

/** Maximum size of Access-Control-Allow-Origin in the result, in octets of JSON. */
const VALUE_BYTES = 2048;

/** Maximum number of requests at the same time, the wait for each, and the time reserved for the result. */
const PARALLEL = 4;
const PATIENCE_MS = 5000;
const RESERVE_MS = 1000;
const TOO_MANY_REQUESTS = 429;

/** Requests a resource without an origin, then with each origin. */
export const cors = implement(contract, async (net, { url, origin: given }) => {
  const origin = readOrigin(given);
  if (origin === null) return { status: "invalid", field: "origin", message: "is not an origin" };
  const observedAt = net.now().toISOString();
  const fetched = await net.http.fetch({ url, method: "GET", follow: true, maxBodyBytes: 0 });
  if (fetched.status !== "ok") return fetched;
  const { final, finalUrl } = fetched.data;
  const exchanges = await askOrigins(net, finalUrl, origin);
  const report = analyseCors(exchanges, final.headers);
  const { findings } = fitFindings(describeCorsFindings(report.findings));
  return ok({
    url,
    final_url: finalUrl,
    code: final.code,
    origin,
    risk: report.risk,
    findings,
    simple_request_allowed: report.simpleAllowed,
    credentialed_request_allowed: report.credentialedAllowed,
    preflight_allowed: report.preflightAllowed,
    ...policyOf(report),
    probes: plain(report.probes),
    source: ["page"],
    observed_at: observedAt,
    limitations: [
      ...(new URL(finalUrl).origin === origin
        ? ["The tested origin is the resource's own origin, to which CORS does not apply."]
        : []),
      ...limitationsOf(fetched.data, exchanges),
    ],
  });
});

function policyOf({ simple, preflight }: CorsReport) {
  const main = simple?.allowOrigin === undefined || simple.allowOrigin === null ? preflight : simple;
  const allowOrigin = main?.allowOrigin ?? null;
  return {
    allow_origin: allowOrigin === null ? null : leadingText(allowOrigin, VALUE_BYTES),
    allow_credentials: main?.allowCredentials === "true",
    allow_methods: plain(preflight?.allowMethods ?? null),
    allow_headers: plain(preflight?.allowHeaders ?? null),
    expose_headers: plain(simple?.exposeHeaders ?? null),
    max_age_s: preflight?.maxAgeSeconds ?? null,
    vary_origin: simple?.variesByOrigin ?? false,
  };
}

function limitationsOf({ url, finalUrl, stopped }: PageSnapshot, exchanges: readonly CorsExchange[]): string[] {
  const limited = exchanges.filter(({ answer }) => answer.answered && answer.status === 429).length;
  const silent = exchanges.filter(({ answer }) => !answer.answered).length;
  return [
    ...(stopped === null ? [] : [`The last response is a redirect that was not followed: ${stopped}.`]),
    ...(new URL(url).href === finalUrl ? [] : ["The URL redirects. The origins were tested at the final URL."]),
    ...(limited === 0
      ? []
      : ["The target limits requests (429). Requests without a response say nothing about its policy."]),
    ...(silent === 0 ? [] : [`${silent} of ${exchanges.length} requests were not answered or not sent.`]),
  ];
}

/** Requests a URL with each origin, by GET and by preflight. Sends no more requests after a status 429. */
async function askOrigins(net: Net, url: string, given: string): Promise<CorsExchange[]> {
  const origins = probeOrigins(new URL(url), given);
  const wanted = origins.flatMap((one) => [false, true].map((preflight) => ({ ...one, preflight })));
  const answers = wanted.map((): CorsAnswer => ({ answered: false, reason: "not asked" }));
  let next = 0;
  let limited = false;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < wanted.length; at = next++) {
      const one = wanted[at];
      if (one === undefined || limited || net.remainingMs() <= RESERVE_MS || net.signal.aborted) return;
      const answer = await ask(net, url, one.origin, one.preflight);
      answers[at] = answer;
      limited ||= answer.answered && answer.status === TOO_MANY_REQUESTS;
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
  return wanted.map((one, at) => ({ ...one, answer: answers[at] ?? { answered: false, reason: "not asked" } }));
}

async function ask(net: Net, url: string, origin: string, preflight: boolean): Promise<CorsAnswer> {
  const asked: readonly (readonly [string, string])[] = [
    ["Access-Control-Request-Method", PREFLIGHTED.method],
    ["Access-Control-Request-Headers", PREFLIGHTED.header],
  ];
  const fetched = await net.http.fetch({
    url,
    method: preflight ? "OPTIONS" : "GET",
    headers: [["Origin", origin], ...(preflight ? asked : [])],
    follow: false,
    maxBodyBytes: 0,
    verifiesSentChain: false,
    timeoutMs: Math.min(PATIENCE_MS, net.remainingMs() - RESERVE_MS),
  });
  if (fetched.status === "failed") return { answered: false, reason: fetched.reason };
  if (fetched.status !== "ok") return { answered: false, reason: fetched.status };
  const { code, headers } = fetched.data.final;
  return { answered: true, status: code, headers };
}
