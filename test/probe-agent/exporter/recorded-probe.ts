import { createSamples } from "#probe-agent/exporter/samples.ts";
import { compileExpression, type Expression } from "#shared/blackbox/expression.ts";
import type { Fields, Probe, ProberContext } from "#probe-agent/exporter/probe.ts";
import type { DnsOptions, RecordConditions, TlsOptions } from "#shared/blackbox/module.ts";
import type { IcmpHost } from "#probe-agent/net/icmp/host.ts";
import { systemClock, systemRandom } from "#test/support/clock.ts";
import { jobLimits } from "#test/support/net.ts";

/** A probe whose log and metrics a test reads. */
export interface RecordedProbe extends Probe {
  readonly lines: readonly { readonly level: string; readonly message: string; readonly fields: Fields }[];
  /** Metrics by name and labels, as in the text. */
  metrics(): Readonly<Record<string, number>>;
}

/** Creates a probe that ends when a test aborts `signal`, else long after the test. */
export function recordProbe(target: string, limits: { readonly signal?: AbortSignal; readonly ms?: number } = {}) {
  const lines: { level: string; message: string; fields: Fields }[] = [];
  const samples = createSamples();
  const probe: RecordedProbe = {
    target,
    deadline: jobLimits(limits.ms ?? 120_000).deadline,
    signal: limits.signal ?? new AbortController().signal,
    samples,
    log: (level, message, fields = {}) => void lines.push({ level, message, fields }),
    lines,
    metrics: () =>
      Object.fromEntries(
        samples
          .render()
          .split("\n")
          .filter((line) => line !== "" && !line.startsWith("#"))
          .map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))]),
      ),
  };
  return probe;
}

/** Options of TLS that change nothing. */
export const NO_TLS: TlsOptions = {
  insecure_skip_verify: false,
  ca: null,
  cert: null,
  key: null,
  server_name: "",
  min_version: null,
  max_version: null,
};

/** Creates the context of a probe, which allows every address unless said otherwise. */
export function proberContext(changes: Partial<ProberContext> = {}): ProberContext {
  return {
    clock: systemClock,
    random: systemRandom,
    allows: () => true,
    deniesName: () => false,
    allowsRedirect: () => true,
    icmpHost: noIcmp([]),
    proxyEnvironment: {},
    bodyThreads: {} as ProberContext["bodyThreads"],
    userAgent: "test",
    roots: null,
    ...changes,
  };
}

/** An ICMP host without sockets. */
export function noIcmp(missing: readonly string[]): IcmpHost {
  const capabilities = { v4: false, v6: false, missing };
  return {
    ready: () => Promise.resolve(capabilities),
    capabilities: () => capabilities,
    pid: () => null,
    start(_order, onEvent) {
      queueMicrotask(() => onEvent({ job: 1, kind: "failed", reason: "unsupported", message: missing.join("; ") }));
      return () => {};
    },
    stop: () => Promise.resolve(),
  };
}

/** Compiles valid expressions. */
export function expressions(...sources: readonly string[]): readonly Expression[] {
  return sources.map((source) => {
    const compiled = compileExpression(source);
    if ("fault" in compiled) throw new Error(compiled.fault);
    return compiled;
  });
}

/** Conditions that every section meets. */
export const NO_CONDITIONS: RecordConditions = {
  fail_if_matches_regexp: [],
  fail_if_all_match_regexp: [],
  fail_if_not_matches_regexp: [],
  fail_if_none_matches_regexp: [],
};

/** Returns the options of a DNS module that asks for the addresses of www.example.test. */
export function dnsOptions(changes: Partial<DnsOptions> = {}): DnsOptions {
  return {
    preferred_ip_protocol: "ip4",
    ip_protocol_fallback: true,
    source_ip_address: null,
    transport_protocol: "udp",
    dns_over_tls: false,
    tls_config: NO_TLS,
    query_name: "www.example.test",
    query_type: "A",
    query_class: 1,
    recursion_desired: true,
    valid_rcodes: [0],
    validate_answer_rrs: NO_CONDITIONS,
    validate_authority_rrs: NO_CONDITIONS,
    validate_additional_rrs: NO_CONDITIONS,
    ...changes,
  };
}
