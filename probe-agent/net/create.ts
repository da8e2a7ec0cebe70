import type { Clock, Random } from "#shared/time/clock.ts";
import type { Egress } from "#shared/internet/egress.ts";
import { createAnalyses } from "#probe-agent/threads/analyses.ts";
import { createAnalysisThreads, type AnalysisThread } from "#probe-agent/threads/analyses/threads.ts";
import { createBrowser } from "#probe-agent/net/browser.ts";
import { createDns } from "#probe-agent/net/dns/create.ts";
import { createHttp } from "#probe-agent/net/http.ts";
import { createIcmp } from "#probe-agent/net/icmp.ts";
import type { IcmpHost } from "#probe-agent/net/icmp/host.ts";
import type { BlackboxPort } from "#probe-agent/port/blackbox.ts";
import type { JobLimits } from "#probe-agent/port/job-limits.ts";
import type { Net, ProgressEvent, Services } from "#probe-agent/toolkit/net.ts";
import type { TrustAnchor } from "#probe-agent/port/dns.ts";
import type { DataPort } from "#probe-agent/toolkit/data.ts";
import { createQuic } from "#probe-agent/net/quic.ts";
import { createSmtp } from "#probe-agent/net/smtp.ts";
import { createStreams } from "#probe-agent/net/stream.ts";
import { createTcp } from "#probe-agent/net/tcp.ts";
import type { Pool } from "#probe-agent/threads/pool.ts";
import { createTech } from "#probe-agent/threads/tech.ts";
import { createTls } from "#probe-agent/net/tls.ts";
import { createTrace } from "#probe-agent/net/trace.ts";
import { createWhois } from "#probe-agent/net/whois.ts";

/** Services and settings that all jobs of an agent share. */
export interface NetDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly egress: Egress;
  readonly icmpHost: IcmpHost;
  /** Each is address or address:port. [] means the system's servers. */
  readonly dnsServers: readonly string[];
  readonly userAgent: string;
  readonly services: Services;
  readonly data: DataPort;
  readonly trustAnchors: readonly TrustAnchor[];
  /** The browser to run; absent if there is none. `slots`: pages at the same time. `log` takes one line when it fails. */
  readonly browser?: { readonly executable: string; readonly slots: number; readonly log: (line: string) => void };
  /** The exporter's probers; absent where only tools run. */
  readonly blackbox?: (limits: JobLimits) => BlackboxPort;
  /** PEM texts of the roots to trust instead of Node's. */
  readonly roots?: readonly string[];
  /** Threads for analyses, started with the rules of `data`. Default: a new pool. */
  readonly threads?: Pool<AnalysisThread>;
}

/** Creates the real network once. Each job gets a view of it within its own limits. */
export function createNet(
  deps: NetDeps,
): (limits: JobLimits, emit: (event: ProgressEvent) => void, onFile?: (bytes: Uint8Array) => void) => Net {
  const { clock, random, egress, icmpHost: host, userAgent, services } = deps;
  const dnsFor = createDns({ servers: deps.dnsServers, egress, clock, random });
  const roots = deps.roots === undefined ? {} : { roots: deps.roots };
  const httpFor = createHttp({ clock, egress, userAgent, ...roots });
  const tlsFor = createTls({ clock, egress, random, ...roots });
  const tcpFor = createTcp({ clock, egress, icmpHost: host });
  const icmpFor = createIcmp({ host, egress });
  const quicFor = createQuic({ clock, random, egress });
  const traceFor = createTrace({ host, egress, clock });
  const whoisFor = createWhois({ clock, egress });
  const smtpFor = createSmtp({ clock, egress });
  const streamsFor = createStreams({ clock, egress, userAgent });
  const rules = deps.data.techRules;
  const threads = deps.threads ?? createAnalysisThreads({ clock, rules });
  const analysesFor = createAnalyses({ clock, threads });
  const techFor = createTech({ clock, threads, rules });
  const browserFor = deps.browser === undefined ? null : createBrowser({ ...deps.browser, clock, egress, userAgent });
  return (limits, emit, onFile) => {
    const dns = dnsFor(limits);
    return {
      signal: limits.signal,
      remainingMs: () => Math.max(0, limits.deadline - clock.monotonic()),
      now: () => limits.now(),
      monotonic: () => clock.monotonic(),
      random: (count) => random.bytes(count),
      emit,
      attachFile: (bytes) => onFile?.(bytes),
      http: httpFor(limits, dns),
      dns,
      tls: tlsFor(limits),
      tcp: tcpFor(limits),
      icmp: icmpFor(limits),
      trace: traceFor(limits),
      quic: quicFor(limits),
      whois: whoisFor(limits, dns),
      smtp: smtpFor(limits),
      stream: streamsFor(limits, dns),
      analyses: analysesFor(limits),
      tech: techFor(limits),
      browser: browserFor?.(limits, dns) ?? null,
      blackbox: deps.blackbox?.(limits) ?? null,
      services,
      data: deps.data,
      trustAnchors: deps.trustAnchors,
    };
  };
}
