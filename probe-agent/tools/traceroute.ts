import { ok } from "#shared/contracts/outcome.ts";
import { traceroute as contract } from "#shared/tools/traceroute/contract.ts";
import { toMicroseconds } from "#probe-agent/analysis/network/statistics.ts";
import { implement, wakeIcmp } from "#probe-agent/tools/implement.ts";
import { blockedNote, onlyVersion, preferredAddress } from "#probe-agent/tools/ping/address.ts";
import { traceRoute } from "#probe-agent/tools/ping/traceroute.ts";

/** Traces the route: one name lookup, then the route to one vetted address. */
export const traceroute = implement(
  contract,
  async (net, params) => {
    const observedAt = net.now().toISOString();
    const resolved = await net.dns.resolve(params.host, onlyVersion(params.ip_version));
    if (resolved.status !== "ok") return resolved;
    const address = preferredAddress(net, resolved.data, true);
    const trace = await traceRoute(net, address, params);
    if (trace.status !== "ok") return trace;
    const { fields, limitations } = trace.data;
    return ok({
      host: resolved.data.host,
      ip: address.ip,
      ip_version: address.version,
      ...fields,
      resolve_ms: toMicroseconds(resolved.data.elapsedMs),
      observed_at: observedAt,
      limitations: [...limitations, ...blockedNote(resolved.data)],
    });
  },
  wakeIcmp,
);
