import { ok } from "#shared/contracts/outcome.ts";
import { ip as contract } from "#shared/tools/ip/contract.ts";
import { waitAtMost } from "#shared/time/time-limit.ts";
import { addressType } from "#probe-agent/analysis/network/address-type.ts";
import { ipReport } from "#probe-agent/tools/ip/report.ts";
import { askCymru } from "#probe-agent/sources/cymru.ts";
import { askRdap } from "#probe-agent/sources/rdap.ts";
import { lookUpReverseName } from "#probe-agent/sources/reverse-name.ts";
import { implement } from "#probe-agent/tools/implement.ts";

/** Time kept for sending the answer back after the sources have used their time, in milliseconds. */
const RESERVE_MS = 500;

/** Looks up the address of a host, then asks every source about it at the same time. Only the host itself can fail. */
export const ip = implement(contract, async (net, { host }) => {
  const observedAt = net.now().toISOString();
  const resolved = await net.dns.resolve(host);
  if (resolved.status !== "ok") return resolved;
  const { allowed, blocked } = resolved.data;
  const [address] = allowed;
  if (address === undefined) throw new Error("resolved to no allowed address");

  const type = addressType(address.ip);
  // An address outside the internet is in no registry, and outside services should not learn about it.
  const outside = type === "public" || type === "anycast";
  const patience = net.remainingMs() - RESERVE_MS;
  const [reverse, cymru, rdap] = await Promise.all([
    waitAtMost(patience, lookUpReverseName(net, address.ip), null),
    outside ? waitAtMost(patience, askCymru(net, address.ip), null) : null,
    outside ? waitAtMost(patience, askRdap(net, address.ip), null) : null,
  ]);
  const databases = {
    geo: outside ? net.data.geo(address.ip) : null,
    network: outside ? net.data.asn(address.ip) : null,
    now: new Date(observedAt),
  };
  return ok({
    ...ipReport({
      host: resolved.data.host,
      address,
      allowed,
      blocked,
      type,
      outside,
      reverse,
      cymru,
      rdap,
      ...databases,
    }),
    observed_at: observedAt,
  });
});
