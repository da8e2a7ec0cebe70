import { createEgress, type Egress } from "#shared/internet/egress.ts";
import { IANA_ANCHORS } from "#probe-agent/analysis/dns/trust-anchors.ts";
import { createAnalyses } from "#probe-agent/threads/analyses.ts";
import { createAnalysisThreads } from "#probe-agent/threads/analyses/threads.ts";
import { createDns } from "#probe-agent/net/dns/create.ts";
import type { JobLimits } from "#probe-agent/port/job-limits.ts";
import type { Net, ProgressEvent } from "#probe-agent/toolkit/net.ts";
import type { DnsPort } from "#probe-agent/port/dns.ts";
import { systemClock, systemRandom } from "#test/support/clock.ts";
import { perFile } from "#test/support/per-file.ts";

/** Returns the limits of one job that starts now. `signal` defaults to one that never aborts. */
export function jobLimits(timeoutMs = 10_000, signal: AbortSignal = new AbortController().signal): JobLimits {
  return { signal, deadline: systemClock.monotonic() + timeoutMs, now: () => systemClock.now() };
}

/** Egress rules that allow the loopback and documentation addresses of test servers. */
export const loopbackEgress: Egress = createEgress({
  targets: ["127.0.0.0/8", "::1/128", "192.0.2.0/24", "2001:db8::/32"],
  names: ["localhost"],
});

/** Creates a DNS port that asks `servers` (`127.0.0.1:port`, as test DNS servers return it). */
export function dnsPort(
  servers: readonly string[],
  options: { readonly egress?: Egress; readonly limits?: JobLimits } = {},
): DnsPort {
  const dns = createDns({
    servers,
    egress: options.egress ?? loopbackEgress,
    clock: systemClock,
    random: systemRandom,
  });
  return dns(options.limits ?? jobLimits());
}

const analysesOfFile = perFile(() =>
  createAnalyses({ clock: systemClock, threads: createAnalysisThreads({ clock: systemClock }) }),
);

/**
 * Creates a Net with the given ports and with analyses. Any other port throws when it is used. `events` collects what
 * the tool emits.
 */
export function netOf(
  ports: Partial<Net>,
  limits: JobLimits = jobLimits(),
): Net & { readonly events: readonly ProgressEvent[] } {
  const events: ProgressEvent[] = [];
  const base = {
    events,
    signal: limits.signal,
    remainingMs: () => Math.max(0, limits.deadline - systemClock.monotonic()),
    now: () => limits.now(),
    monotonic: () => systemClock.monotonic(),
    random: (count: number) => systemRandom.bytes(count),
    emit: (event: ProgressEvent) => events.push(event),
    trustAnchors: IANA_ANCHORS,
    analyses: analysesOfFile()(limits),
    ...ports,
  };
  return new Proxy(base, {
    get(target, key) {
      if (!Reflect.has(target, key)) throw new Error(`this test's Net has no ${String(key)}`);
      return Reflect.get(target, key) as unknown;
    },
  }) as unknown as Net & { readonly events: readonly ProgressEvent[] };
}
