import type { Module } from "#shared/blackbox/module.ts";
import { probeDns } from "#probe-agent/exporter/probe-dns.ts";
import { probeGrpc } from "#probe-agent/exporter/probe-grpc.ts";
import { probeHttp } from "#probe-agent/exporter/probe-http.ts";
import { probeIcmp } from "#probe-agent/exporter/probe-icmp.ts";
import { probeTcp } from "#probe-agent/exporter/probe-tcp.ts";
import type { Probe, ProberContext, Verdict } from "#probe-agent/exporter/probe.ts";
import { createSamples, family, toSeconds } from "#probe-agent/exporter/samples.ts";
import type { LogLine } from "#probe-agent/exporter/server/history.ts";

const SUCCESS = family("probe_success", "Displays whether or not the probe was a success");
const DURATION = family("probe_duration_seconds", "Returns how long the probe took to complete in seconds");

/** A probe to run. */
interface ProbeOrder {
  readonly module: Module;
  readonly target: string;
  readonly timeoutMs: number;
  /** Aborted when nobody waits for the answer. */
  readonly abandoned: AbortSignal;
}

/** What a probe found. */
interface ProbeResult {
  readonly verdict: Verdict;
  /** The text for Prometheus. */
  readonly metrics: string;
  readonly lines: readonly LogLine[];
}

/** Maximum number of lines of a log. A target can cause many, such as the lines that it sends. */
const MOST_LINES = 500;

/** Reason of the end of a probe. Without one, Node makes an exception with a stack for each. */
const OVER = "the probe is over";

/** Runs one probe within its time. */
export async function runProbe(order: ProbeOrder, context: ProberContext): Promise<ProbeResult> {
  const { module, target, timeoutMs, abandoned } = order;
  const { clock } = context;
  const startedAt = clock.monotonic();
  const ending = new AbortController();
  const end = (): void => ending.abort(OVER);
  const timer = setTimeout(end, timeoutMs);
  abandoned.addEventListener("abort", end, { once: true });
  const samples = createSamples();
  const lines: LogLine[] = [];
  const log: Probe["log"] = (level, message, fields = {}) => {
    if (lines.length < MOST_LINES) lines.push({ at: clock.now(), level, message, fields });
  };
  samples.set(SUCCESS, 0);
  log("info", "Beginning probe", { probe: module.prober, timeout_seconds: timeoutMs / 1000 });
  const probe: Probe = { target, deadline: startedAt + timeoutMs, signal: ending.signal, samples, log };
  let verdict: Verdict;
  try {
    verdict = await dispatch(probe, module, context);
  } finally {
    clearTimeout(timer);
    abandoned.removeEventListener("abort", end);
    // What a prober has left open, such as a connection that it does not read, ends with the probe.
    end();
  }
  const seconds = toSeconds(clock.monotonic() - startedAt);
  samples.set(SUCCESS, verdict === "success" ? 1 : 0);
  samples.set(DURATION, seconds);
  if (verdict === "success") log("info", "Probe succeeded", { duration_seconds: seconds });
  else log("error", "Probe failed", { duration_seconds: seconds });
  return { verdict, metrics: samples.render(), lines };
}

function dispatch(probe: Probe, module: Module, context: ProberContext): Promise<Verdict> {
  switch (module.prober) {
    case "http":
      return probeHttp(probe, module.options, context);
    case "tcp":
      return probeTcp(probe, module.options, context);
    case "dns":
      return probeDns(probe, module.options, context);
    case "icmp":
      return probeIcmp(probe, module.options, context);
    case "grpc":
      return probeGrpc(probe, module.options, context);
  }
}
