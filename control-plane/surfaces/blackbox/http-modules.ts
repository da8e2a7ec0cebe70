import { check } from "#shared/tools/check/contract.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { completeUrl } from "#shared/internet/target-url.ts";
import { bodyBreakOf } from "#shared/tools/http-body.ts";
import { certificateSamples } from "#control-plane/surfaces/blackbox/certificate-metrics.ts";
import { addressSamples, phaseSamples, type Sample } from "#control-plane/surfaces/blackbox/metric-families.ts";
import { targetFailure, type Cause, type Module } from "#control-plane/surfaces/blackbox/module.ts";

type Check = ResultOf<typeof check>;

const PHASES = "probe_http_duration_seconds";
const PHASES_HELP = "Duration of http request by phase, summed over all redirects";

/** Creates an http_* module: success is any 2xx from a server with a valid certificate. */
export function httpModule(name: string, method: "GET" | "POST"): Module {
  return {
    name,
    contract: check,
    call: (target) => ({
      // The exporter reports one address family; no connection over the other one is made.
      input: { families: false },
      params: { url: exporterUrl(target), method },
    }),
    report(data) {
      const result = data as Check;
      // The exporter's client stops at an invalid certificate, so it has nothing to report.
      if (result.tls !== null && !result.tls.authorized) {
        const failure = targetFailure("tls", result.tls.error ?? "certificate");
        return { failure, seconds: null, samples: FAILURE };
      }
      return {
        failure: failureOf(result),
        seconds: result.timing_us.elapsed_us / 1e6,
        samples: samplesOf(result),
      };
    },
    failure: FAILURE,
  };
}

/** Adds http:// to a target without scheme, as the exporter does, so that existing scrape jobs probe the same URL. */
export function exporterUrl(target: string): string {
  const url = completeUrl(target);
  return url === null || url === target ? target : url.replace("https:", "http:");
}

/** Returns why an answer is not a success; null if it is. probe_http_status_code has the code. */
function failureOf({ code, body }: Check): Cause | null {
  if (code < 200 || code > 299) return targetFailure("response", "http_status");
  // The exporter's client fails if the body is truncated.
  const broken = bodyBreakOf(body.error);
  return broken === null ? null : targetFailure("response", broken);
}

// -1 if the length is unknown, as in Go's http.Response; a 204 never has a body.
function samplesOf(result: Check): readonly Sample[] {
  const phases = phasesOf(result);
  const lastModified = Date.parse(headerOf(result, "last-modified") ?? "");
  return [
    ...addressSamples(result.ip, phases.resolve),
    ...phaseSamples(PHASES, PHASES_HELP, phases),
    ...httpSamples({
      code: result.code,
      version: Number(result.http_version),
      redirects: result.redirects.length,
      ssl: result.tls !== null,
      contentLength: result.body.content_length ?? (result.code === 204 ? 0 : -1),
      bodyLength: result.body.decoded_bytes,
    }),
    ...(Number.isNaN(lastModified)
      ? []
      : [
          {
            name: "probe_http_last_modified_timestamp_seconds",
            help: "Returns the Last-Modified HTTP response header in unixtime",
            value: lastModified / 1000,
          },
        ]),
    ...tlsSamples(result.tls),
  ];
}

function tlsSamples(tls: Check["tls"]): readonly Sample[] {
  if (tls === null || tls.certificate === null || tls.chain_not_after === null) return [];
  const { subject, issuer, san, fingerprint_sha256: fingerprint } = tls.certificate;
  const pathEnd = tls.path_not_after ?? tls.chain_not_after;
  return certificateSamples({
    protocol: tls.protocol,
    subject,
    issuer,
    san,
    fingerprint,
    chainEnd: tls.chain_not_after,
    pathEnd,
  });
}

/** Seconds over all hops. */
function phasesOf({ redirects, timing_us: final }: Check) {
  const sum = (phase: "dns_us" | "connect_us" | "tls_us" | "ttfb_us" | "transfer_us"): number =>
    redirects.reduce((total, { timing_us: hop }) => total + hop[phase], final[phase]) / 1e6;
  return {
    resolve: sum("dns_us"),
    connect: sum("connect_us"),
    tls: sum("tls_us"),
    processing: sum("ttfb_us"),
    transfer: sum("transfer_us"),
  };
}

function headerOf({ headers }: Check, name: string): string | undefined {
  return headers.find((header) => header.name.toLowerCase() === name)?.value;
}

function httpSamples(facts: {
  readonly code: number;
  readonly version: number;
  readonly redirects: number;
  readonly ssl: boolean;
  readonly contentLength: number;
  readonly bodyLength: number;
}): readonly Sample[] {
  return [
    { name: "probe_failed_due_to_regex", help: "Indicates if probe failed due to regex", value: 0 },
    { name: "probe_http_content_length", help: "Length of http content response", value: facts.contentLength },
    { name: "probe_http_redirects", help: "The number of redirects", value: facts.redirects },
    { name: "probe_http_ssl", help: "Indicates if SSL was used for the final redirect", value: facts.ssl ? 1 : 0 },
    { name: "probe_http_status_code", help: "Response HTTP status code", value: facts.code },
    {
      name: "probe_http_uncompressed_body_length",
      help: "Length of uncompressed response body",
      value: facts.bodyLength,
    },
    {
      name: "probe_http_version",
      help: "Returns the version of HTTP of the probe response",
      value: facts.version,
    },
  ];
}

const FAILURE: readonly Sample[] = [
  ...addressSamples(null, 0),
  ...phaseSamples(PHASES, PHASES_HELP, { resolve: 0, connect: 0, tls: 0, processing: 0, transfer: 0 }),
  ...httpSamples({ code: 0, version: 0, redirects: 0, ssl: false, contentLength: 0, bodyLength: 0 }),
];
