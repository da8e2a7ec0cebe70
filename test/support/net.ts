import { createEgress, type Egress } from "#shared/egress.ts";
import { createDns } from "#probe-agent/net/dns/create.ts";
import type { JobLimits } from "#probe-agent/net/limits.ts";
import type { DnsPort } from "#probe-agent/net/port.ts";
import { systemClock, systemRandom } from "#test/support/clock.ts";

/** Bounds of one job that starts now; `signal` defaults to one that never aborts. */
export function jobLimits(timeoutMs = 10_000, signal: AbortSignal = new AbortController().signal): JobLimits {
  return { signal, deadline: systemClock.monotonic() + timeoutMs, now: () => systemClock.now() };
}

/** Egress rules that open the loopback and documentation addresses test servers use. */
export const loopbackEgress: Egress = createEgress({
  targets: ["127.0.0.0/8", "::1/128", "192.0.2.0/24", "2001:db8::/32"],
  names: ["localhost"],
});

/** A DNS port that asks `servers` (`127.0.0.1:port`, as test DNS servers give it). */
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
