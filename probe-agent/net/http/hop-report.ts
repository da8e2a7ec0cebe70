import type { HopConnection, HopContext } from "#probe-agent/net/http/hop-connection.ts";
import type { Exchange } from "#probe-agent/net/http/exchange.ts";
import { readable } from "#probe-agent/net/http/header-text.ts";
import type { HopRequest } from "#probe-agent/net/http/request.ts";
import type { Hop, HopTiming } from "#probe-agent/port/http.ts";

/**
 * Describes a hop that ended at `endedAt`, in milliseconds of the monotonic clock. `location` is the target of its
 * redirect.
 */
export function describeHop(
  { url, method }: HopRequest,
  { startedAt, chainStartedAt }: HopContext,
  { endpoints, address, port, attempts, tls, marks }: HopConnection,
  { head, firstByteAt, informational }: Exchange,
  { location, endedAt }: { readonly location: Hop["location"]; readonly endedAt: number },
): Hop {
  return {
    url: url.href,
    method,
    code: head.code,
    statusText: readable(head.statusText),
    httpVersion: head.version,
    ip: address.ip,
    ipVersion: address.version,
    port,
    addresses: endpoints.allowed,
    blocked: endpoints.blocked,
    unanswered: endpoints.unanswered ?? [],
    attempts,
    headers: head.headers.map(([name, value]) => [readable(name), readable(value)] as const),
    faults: head.faults,
    informational,
    location,
    timing: timingOf([...marks, firstByteAt], endedAt),
    tls,
    startedAtUs: micros(startedAt - chainStartedAt),
  };
}

/**
 * Converts the boundaries of the phases (start, dns, connect, tls, first byte) and the end, in milliseconds of the
 * monotonic clock, to durations in microseconds that add up.
 */
export function timingOf(marks: readonly number[], end: number): HopTiming {
  const start = marks[0] ?? 0;
  const boundaries = [...marks.slice(1), end].map((mark) => micros(mark - start));
  const [dns = 0, connected = 0, secured = 0, first = 0, total = 0] = boundaries;
  return {
    dns,
    connect: connected - dns,
    tls: secured - connected,
    ttfb: first - secured,
    transfer: total - first,
    total,
  };
}

function micros(milliseconds: number): number {
  return Math.round(milliseconds * 1000);
}
