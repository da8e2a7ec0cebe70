import { ok, type Outcome } from "#shared/outcome.ts";
import { ping as contract, type PingResult } from "#shared/tools/ping.ts";
import { toMicroseconds } from "#probe-agent/analysis/statistics.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { Address } from "#probe-agent/port/address.ts";
import { implement, type Implementation, type Untimed } from "#probe-agent/tools/implement.ts";
import { blockedNote, hasRaw, onlyVersion, preferredAddress } from "#probe-agent/tools/ping/address.ts";
import { checkPorts } from "#probe-agent/tools/ping/ports.ts";
import { pingByIcmp } from "#probe-agent/tools/ping/icmp.ts";
import { pingByTcp } from "#probe-agent/tools/ping/tcp.ts";
import type { Part, PingParams } from "#probe-agent/tools/ping/part.ts";
import { traceRoute } from "#probe-agent/tools/ping/traceroute.ts";

/** Runs ping, ports or traceroute: one name lookup, then the action on one vetted address. */
export const ping: Implementation<typeof contract.params.properties, typeof contract.result.properties> = implement(
  contract,
  async (net, params) => {
    if (params.action === "ports" && params.ports === undefined) {
      return { status: "invalid", field: "ports", message: "is required with action=ports" };
    }
    const observedAt = net.now().toISOString();
    const resolved = await net.dns.resolve(params.host, onlyVersion(params.ip_version));
    if (resolved.status !== "ok") return resolved;
    const address = preferredAddress(net, resolved.data, needsRaw(params));
    const part = await ACTIONS[params.action](net, address, params);
    if (part.status !== "ok") return part;
    const { fields, limitations } = part.data;
    const result: Untimed<PingResult> = {
      action: params.action,
      host: resolved.data.host,
      ip: address.ip,
      ip_version: address.version,
      ...fields,
      resolve_ms: toMicroseconds(resolved.data.elapsedMs),
      observed_at: observedAt,
      limitations: [...limitations, ...blockedNote(resolved.data)],
    };
    return ok(result);
  },
);

const ACTIONS: Readonly<
  Record<PingParams["action"], (net: Net, address: Address, params: PingParams) => Promise<Outcome<Part>>>
> = {
  ping: pingOnce,
  ports: checkPorts,
  traceroute: traceRoute,
};

function needsRaw({ action, protocol }: PingParams): boolean {
  return action === "traceroute" || (action === "ping" && protocol !== "tcp");
}

/**
 * Pings by ICMP if the agent can send it and nothing else was requested. Otherwise pings by TCP on port 443, then 80.
 */
async function pingOnce(net: Net, address: Address, params: PingParams): Promise<Outcome<Part>> {
  if (params.protocol === "tcp" || (params.protocol === undefined && params.port !== undefined)) {
    return pingByTcp(net, address, params, []);
  }
  if (params.protocol === "icmp" || hasRaw(net, address)) return pingByIcmp(net, address, params);
  return pingByTcp(net, address, params, [
    `This probe cannot send ICMP over IPv${address.version}, so it measured TCP handshakes. size and ttl do not apply to them.`,
  ]);
}
