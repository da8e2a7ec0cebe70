import { headerValues } from "#probe-agent/analysis/http/header-list.ts";
import { bodyFraming } from "#probe-agent/net/http/framing.ts";
import {
  checkHeaders,
  hasBodyRules,
  isValidStatus,
  lastModified,
  protocolOf,
} from "#probe-agent/exporter/http/answer-rules.ts";
import { checkBody, MOST_MATCHED } from "#probe-agent/exporter/http/body-rules.ts";
import { firstRequest, followRedirects } from "#probe-agent/exporter/http/fetch.ts";
import { hostOf, type BodyPlan, type HopAnswer, type HopTimes } from "#probe-agent/exporter/http/hop.ts";
import type { HttpOptions } from "#shared/blackbox/module.ts";
import type { Probe, Prober, ProberContext } from "#probe-agent/exporter/probe.ts";
import { resolveTarget } from "#probe-agent/exporter/resolve.ts";
import { family, toSeconds, type Samples } from "#probe-agent/exporter/samples.ts";
import { setTlsSamples } from "#probe-agent/exporter/tls/client.ts";
import { readTerms } from "#probe-agent/exporter/tls/terms.ts";

const DURATION = family("probe_http_duration_seconds", "Duration of http request by phase, summed over all redirects");
const CONTENT_LENGTH = family("probe_http_content_length", "Length of http content response");
const BODY_LENGTH = family("probe_http_uncompressed_body_length", "Length of uncompressed response body");
const REDIRECTS = family("probe_http_redirects", "The number of redirects");
const IS_SSL = family("probe_http_ssl", "Indicates if SSL was used for the final redirect");
const STATUS = family("probe_http_status_code", "Response HTTP status code");
const VERSION = family("probe_http_version", "Returns the version of HTTP of the probe response");
const REGEX = family("probe_failed_due_to_regex", "Indicates if probe failed due to regex");
const LAST_MODIFIED = family(
  "probe_http_last_modified_timestamp_seconds",
  "Returns the Last-Modified HTTP response header in unixtime",
);

const PHASES = {
  resolve: { phase: "resolve" },
  connect: { phase: "connect" },
  tls: { phase: "tls" },
  processing: { phase: "processing" },
  transfer: { phase: "transfer" },
} as const;

/** Probes a URL, following redirects, and judges the final answer. */
export const probeHttp: Prober<HttpOptions> = async (probe, options, context) => {
  const { samples, log } = probe;
  for (const each of [CONTENT_LENGTH, BODY_LENGTH, REDIRECTS, IS_SSL, STATUS, VERSION, REGEX]) samples.set(each, 0);
  const url = URL.parse(/^https?:\/\//.test(probe.target) ? probe.target : `http://${probe.target}`);
  if (url === null || url.hostname === "") {
    log("error", "Could not parse target URL", { target: probe.target });
    return "failure";
  }
  let ip: string | null = null;
  if (!options.skip_resolve_phase_with_proxy || options.proxy.proxy_url === null) {
    const resolved = await resolveTarget(probe, hostOf(url), options, context);
    samples.add(DURATION, resolved.seconds, PHASES.resolve);
    if (resolved.status !== "ok") return resolved.status;
    ({ ip } = resolved);
  }
  const { ca, cert } = options.tls_config;
  const terms = ca === null && cert === null ? null : await readTerms(options.tls_config, context.roots);
  if (terms !== null && "fault" in terms) {
    log("error", "Error generating HTTP client", { err: terms.fault });
    return "failure";
  }
  for (const phase of [PHASES.connect, PHASES.tls, PHASES.processing, PHASES.transfer]) samples.add(DURATION, 0, phase);
  const request = await firstRequest(url, options, probe, context);
  if ("fault" in request) {
    log("error", "Error for HTTP request", { err: request.fault });
    return "failure";
  }
  const fetched = await followRedirects(request, ip, planBody(options), options, probe, context);
  samples.set(REDIRECTS, fetched.redirects);
  const isGood =
    fetched.answer !== null &&
    (await judge(fetched.answer, fetched.isFollowed, fetched.times, options, probe, context));
  for (const [index, times] of fetched.times.entries()) addTimes(times, index === 0, samples);
  return isGood ? "success" : "failure";
};

/** A body that is matched is kept, another one is only counted. */
function planBody(options: HttpOptions): BodyPlan {
  const keeps = hasBodyRules(options);
  const limit = options.body_size_limit === 0 ? Number.POSITIVE_INFINITY : options.body_size_limit;
  return { compression: options.compression, keeps, maxBytes: keeps ? Math.min(limit, MOST_MATCHED) : limit };
}

/** Judges an answer and sets its metrics. */
async function judge(
  answer: HopAnswer,
  isFollowed: boolean,
  times: readonly HopTimes[],
  options: HttpOptions,
  probe: Probe,
  context: ProberContext,
): Promise<boolean> {
  const { samples, log } = probe;
  const { head, tls } = answer;
  log("info", "Received HTTP response", { status_code: head.code });
  let isGood = isValidStatus(head.code, options, log);
  if (isGood && !checkHeaders(head, options, log)) {
    samples.set(REGEX, 1);
    isGood = false;
  }
  if (isFollowed) {
    const body = await answer.readBody();
    if (isGood && hasBodyRules(options)) {
      const matches = body.fault === null && (await checkBody(body.bytes, options, probe, context.bodyThreads));
      if (body.fault !== null) log("error", "Error reading HTTP body", { err: body.fault });
      samples.set(REGEX, matches ? 0 : 1);
      isGood = matches;
    }
    if (body.fault !== null) {
      log("info", "Failed to read HTTP response body", { err: body.fault });
      isGood = false;
    }
    samples.set(BODY_LENGTH, body.octets);
  } else if (isGood && hasBodyRules(options)) {
    log("error", "Error reading HTTP body", { err: "the body of a redirect is not read" });
    samples.set(REGEX, 1);
    isGood = false;
  }
  const last = times.at(-1);
  if (last !== undefined) last.end = context.clock.monotonic();

  const modified = lastModified(head);
  if (modified !== null) samples.set(LAST_MODIFIED, modified);
  const protocol = protocolOf(head);
  samples.set(VERSION, Number(protocol.slice("HTTP/".length)) || 0);
  if (options.valid_http_versions.length > 0 && !options.valid_http_versions.includes(protocol)) {
    log("error", "Invalid HTTP version number", { version: protocol });
    isGood = false;
  }
  if (tls === null) {
    if (options.fail_if_not_ssl && isGood) {
      log("error", "Final request was not over SSL");
      isGood = false;
    }
  } else {
    samples.set(IS_SSL, 1);
    setTlsSamples(samples, tls);
    if (options.fail_if_ssl) {
      log("error", "Final request was over SSL");
      isGood = false;
    }
  }
  samples.set(STATUS, head.code);
  samples.set(CONTENT_LENGTH, contentLength(head, options.method));
  return isGood;
}

/** Returns the length that an answer says it has, 0 where it cannot have a body; -1 if it does not say. */
function contentLength(head: HopAnswer["head"], method: string): number {
  if (method === "HEAD") {
    const [length = ""] = headerValues(head.headers, "content-length");
    return /^\d{1,15}$/.test(length) ? Number(length) : -1;
  }
  const { framing } = bodyFraming(method, head);
  return framing.kind === "length" ? framing.bytes : framing.kind === "none" ? 0 : -1;
}

/** Adds the times of one request to the phases. The first one's look-up is counted before. */
function addTimes(times: HopTimes, isFirst: boolean, samples: Samples): void {
  const { start, dnsDone, connectDone, tlsStart, tlsDone, gotConn, responseStart, end } = times;
  const add = (phase: { readonly phase: string }, ms: number): void =>
    samples.add(DURATION, toSeconds(Math.max(0, ms)), phase);
  if (!isFirst) add(PHASES.resolve, dnsDone - start);
  if (gotConn === null) return;
  if (tlsStart !== null && tlsDone !== null) {
    add(PHASES.connect, (connectDone ?? dnsDone) - dnsDone);
    add(PHASES.tls, tlsDone - tlsStart);
  } else add(PHASES.connect, gotConn - dnsDone);
  if (responseStart === null) return;
  add(PHASES.processing, responseStart - gotConn);
  if (end !== null) add(PHASES.transfer, end - responseStart);
}
