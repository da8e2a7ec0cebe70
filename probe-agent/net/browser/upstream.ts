import type { Socket } from "node:net";
import type { Clock } from "#shared/clock.ts";
import type { Egress } from "#shared/egress.ts";
import { ok, refused, type Outcome } from "#shared/outcome.ts";
import { urlHost, type Destination } from "#probe-agent/net/browser/socks.ts";
import { dial } from "#probe-agent/net/http/dial.ts";
import type { Resolved } from "#probe-agent/port/address.ts";
import type { DnsPort } from "#probe-agent/port/dns.ts";
import type { JobLimits } from "#probe-agent/port/job-limits.ts";

/** Dependencies of a browser's connections. */
export interface UpstreamOptions {
  readonly egress: Egress;
  readonly dns: Pick<DnsPort, "resolve">;
  readonly clock: Clock;
  readonly limits: JobLimits;
  /** Maximum wait for one connection, in milliseconds. */
  readonly patienceMs: number;
}

/** Maximum number of host names whose addresses are kept. */
const MAX_LOOKUPS = 1000;

/**
 * Creates the function that connects a browser to a destination. It vets each name, resolves it once and keeps its
 * addresses, and vets each address before and after connecting.
 */
export function createUpstreams(options: UpstreamOptions): (to: Destination) => Promise<Outcome<Socket>> {
  const { egress, dns, clock, limits, patienceMs } = options;
  const lookups = new Map<string, Promise<Outcome<Resolved>>>();
  const lookUp = (host: string): Promise<Outcome<Resolved>> => {
    const known = lookups.get(host) ?? dns.resolve(host);
    if (lookups.size < MAX_LOOKUPS) lookups.set(host, known);
    return known;
  };
  return async ({ host, port }) => {
    const named = egress.checkHost(host, { connects: true });
    if (!named.ok || !egress.checkUrl(`http://${urlHost(named.host)}:${port}/`).ok) return refused;
    const resolved = await lookUp(named.host);
    if (resolved.status !== "ok") return resolved;
    const signal = AbortSignal.any([limits.signal, AbortSignal.timeout(patienceMs)]);
    const deadline = Math.min(limits.deadline, clock.monotonic() + patienceMs);
    const dialed = await dial(resolved.data.allowed, port, { clock, signal, deadline, egress });
    return dialed.status === "ok" ? ok(dialed.data.socket) : dialed;
  };
}
