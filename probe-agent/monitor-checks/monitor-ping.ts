import { failed, ok, type Failed } from "#shared/contracts/outcome.ts";
import { monitorPing as contract } from "#shared/monitor-checks/monitor-ping.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { PingReply, ping as pingContract } from "#shared/tools/ping/contract.ts";
import { unreachableReason } from "#probe-agent/analysis/network/icmp-unreachable.ts";
import { answerWith } from "#probe-agent/monitor-checks/answer.ts";
import { PING_DEFAULTS } from "#probe-agent/monitor-checks/ping-defaults.ts";
import { implement, wakeIcmp } from "#probe-agent/tools/implement.ts";
import { ping } from "#probe-agent/tools/ping/ping.ts";

type PingResult = ResultOf<typeof pingContract>;

const ECHOES = 3;

/** Sends three echo requests, or three TCP handshakes without raw sockets. A host that answers none is a failure. */
export const monitorPing = implement(
  contract,
  async (net, params) => {
    const pinged = await ping.run(net, { ...PING_DEFAULTS, host: params.host, action: "ping", count: ECHOES });
    if (pinged.status !== "ok") return pinged;
    const average = pinged.data.rtt?.avg_ms ?? null;
    if (average === null) return silence(pinged.data);
    const finding = { fault: null, responseMs: average, httpStatus: null, phases: null };
    return ok(await answerWith(finding, params, () => Promise.resolve(pinged.data)));
  },
  wakeIcmp,
);

function silence({ ip, ip_version: version, method, port, replies = [] }: PingResult): Failed {
  const error = replies.find(({ status }) => status === "unreachable" || status === "ttl_exceeded");
  if (error !== undefined)
    return failed("connect", "target", reasonOf(version, error), describeError(ip, version, error));
  const sent = method === "tcp" ? `TCP handshakes with port ${port ?? 0}` : "echo requests";
  return failed("connect", "target", "timeout", `no answer from ${ip} to ${ECHOES} ${sent}`);
}

/** Types of ICMP errors that a ping reports as unreachable. */
const UNREACHABLE = { 4: 3, 6: 1 } as const;

function reasonOf(version: 4 | 6, { status, code }: PingReply): string {
  if (status === "ttl_exceeded") return status;
  return code === undefined ? "unreachable" : (unreachableReason(version, UNREACHABLE[version], code) ?? "unreachable");
}

function describeError(ip: string, version: 4 | 6, error: PingReply): string {
  const who = error.from === undefined ? "the network" : error.from;
  return `${who} reports that ${ip} is not reachable (${reasonOf(version, error)})`;
}
