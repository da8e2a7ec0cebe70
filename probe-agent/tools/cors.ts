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

/** Octets of JSON for Access-Control-Allow-Origin, and for each list of names (two hundred at most). */
const VALUE_BYTES = 2048;

/** The resource as it is, then asked for with one origin after the other. */
export const cors = implement(contract, async (net, { url, origin: given }) => {
  const origin = readOrigin(given);
  if (origin === null) return { status: "invalid", field: "origin", message: "not an origin" };
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
        ? ["The origin asked with is the resource's own: browsers ask no leave there, whatever the answer says."]
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
    ...(stopped === null ? [] : [`The last response redirects on, which was not followed: ${stopped}.`]),
    ...(new URL(url).href === finalUrl ? [] : ["The URL redirects: the origins asked where that ends."]),
    ...(limited === 0 ? [] : ["The target limits requests (429): what is not answered tells nothing."]),
    ...(silent === 0 ? [] : [`${silent} of ${exchanges.length} requests were not answered or no longer made.`]),
  ];
}
