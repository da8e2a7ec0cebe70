import { readOrigin } from "#shared/origin.ts";
import { ok } from "#shared/outcome.ts";
import { cors as contract } from "#shared/tools/cors.ts";
import { analyseCors, type CorsReport } from "#probe-agent/analysis/web/cors.ts";
import { describeCorsFindings } from "#probe-agent/analysis/web/cors/described-findings.ts";
import type { CorsExchange } from "#probe-agent/analysis/web/cors/exchange.ts";
import { fitFindings } from "#probe-agent/analysis/text/fitted-findings.ts";
import { leadingText } from "#probe-agent/analysis/text/json-size.ts";
import { plain } from "#probe-agent/analysis/text/plain-data.ts";
import type { PageSnapshot } from "#probe-agent/port/http.ts";
import { askOrigins } from "#probe-agent/tools/cors/ask.ts";
import { implement } from "#probe-agent/tools/implement.ts";

/** Maximum size of Access-Control-Allow-Origin in the result, in octets of JSON. */
const VALUE_BYTES = 2048;

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
