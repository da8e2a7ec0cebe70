import { createSocket } from "node:dgram";
import { isIP, isIPv4 } from "node:net";
import { describeError } from "#shared/contracts/error-code.ts";
import { resolveTarget } from "#probe-agent/exporter/resolve.ts";
import { family } from "#probe-agent/exporter/samples.ts";
import type { EchoReply, EchoRequest } from "#probe-agent/port/packets.ts";
import type { IcmpHost } from "#probe-agent/net/icmp/host.ts";
import type { IcmpOptions } from "#shared/blackbox/module.ts";
import type { Probe, Prober } from "#probe-agent/exporter/probe.ts";

const DURATION = family("probe_icmp_duration_seconds", "Duration of icmp request by phase");
const HOP_LIMIT = family("probe_icmp_reply_hop_limit", "Replied packet hop limit (TTL for ipv4)");

const RESOLVE = { phase: "resolve" };
const SETUP = { phase: "setup" };
const RTT = { phase: "rtt" };

/** Octets of the payload where a module says nothing: the length of the text that the exporter sends. */
const DEFAULT_PAYLOAD = 28;
const DEFAULT_TTL = 64;
/** Source addresses that leave the choice to the kernel. */
const UNSPECIFIED: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);
// 65535 octets less the headers: IPv4's length includes its header of 20 octets, IPv6's does not.
const MOST_PAYLOAD = { 4: 65_507, 6: 65_527 } as const;

/**
 * Sends one echo request through the ICMP process. The reply's hop limit is not known over IPv6 (see IncomingEcho), so its
 * family is missing then.
 */
export const probeIcmp: Prober<IcmpOptions> = async (probe, options, context) => {
  const { samples, log } = probe;
  const { clock, icmpHost } = context;
  for (const phase of [RESOLVE, SETUP, RTT]) samples.set(DURATION, 0, phase);
  const resolved = await resolveTarget(probe, probe.target, options, context);
  if (resolved.status !== "ok") {
    log("warn", "Error resolving address", { target: probe.target });
    return resolved.status;
  }
  samples.set(DURATION, resolved.seconds, RESOLVE);
  const { ip } = resolved;
  const source = UNSPECIFIED.has(options.source_ip_address ?? "::") ? null : options.source_ip_address;
  if (source !== null) log("info", "Using source address", { srcIP: source });

  const startedAt = clock.monotonic();
  log("info", "Creating socket");
  const fault = source === null ? null : await whyNotFrom(source, ip, probe.signal);
  if (fault !== null) {
    log("error", "Error listening to socket", { err: fault });
    return "failure";
  }
  const size = options.payload_size === 0 ? DEFAULT_PAYLOAD : options.payload_size;
  const createdAt = clock.monotonic();
  const isTooLong = size > MOST_PAYLOAD[isIPv4(ip) ? 4 : 6];
  const outcome: Outcome = isTooLong
    ? { kind: "failed", reason: "message_too_long", message: "Message too long" }
    : await sendEcho(probe, icmpHost, {
        ip,
        count: 1,
        intervalMs: 0,
        size,
        ttl: options.ttl === 0 ? DEFAULT_TTL : options.ttl,
        timeoutMs: Math.max(0, probe.deadline - createdAt),
        // The exporter forbids fragments on IPv4 alone. IPv6 routers never make them.
        dontFragment: options.dont_fragment && isIPv4(ip),
        ...(source === null ? {} : { source }),
      });
  if (outcome.kind === "failed" && WITHOUT_SOCKET.has(outcome.reason)) {
    log("error", "Error listening to socket", { err: outcome.message, reason: outcome.reason });
    return "failure";
  }
  samples.set(DURATION, (createdAt - startedAt) / 1000, SETUP);
  if (outcome.kind === "failed") {
    log("warn", "Error writing to socket", { err: outcome.message, reason: outcome.reason });
    return "failure";
  }
  return judge(probe, outcome.reply) ? "success" : "failure";
};

/** Reasons of the ICMP process that mean that it has no socket for the address. */
const WITHOUT_SOCKET: ReadonlySet<string> = new Set(["unsupported", "icmp_process_lost", "socket_lost"]);

/** Result of an echo. The reply is null if none arrived in time. */
type Outcome =
  | { readonly kind: "echo"; readonly reply: EchoReply | null }
  | { readonly kind: "failed"; readonly reason: string; readonly message: string };

/** Runs an echo until it is answered or the probe ends. */
function sendEcho({ signal, log }: Probe, host: IcmpHost, request: EchoRequest): Promise<Outcome> {
  log("info", "Creating ICMP packet", { size: request.size, ttl: request.ttl });
  return new Promise((resolve) => {
    if (signal.aborted) return resolve({ kind: "echo", reply: null });
    log("info", "Writing out packet");
    const end = (outcome: Outcome): void => {
      signal.removeEventListener("abort", giveUp);
      resolve(outcome);
    };
    let first: EchoReply | null = null;
    const cancel = host.start({ kind: "echo", request }, (event) => {
      if (event.kind === "reply") first ??= event.reply;
      else if (event.kind === "echo_done") end({ kind: "echo", reply: first });
      else if (event.kind === "failed") end({ kind: "failed", reason: event.reason, message: event.message });
    });
    function giveUp(): void {
      cancel();
      end({ kind: "echo", reply: null });
    }
    signal.addEventListener("abort", giveUp, { once: true });
    log("info", "Waiting for reply packets");
    return undefined;
  });
}

/** Sets the metrics of a reply and reports whether it is the target's. */
function judge({ samples, log }: Probe, reply: EchoReply | null): boolean {
  if (reply === null || reply.status === "timeout") {
    log("warn", "Timeout reading from socket", { err: "i/o timeout" });
    return false;
  }
  const isAnswer = (reply.status === "ok" || reply.status === "late") && reply.from === undefined;
  if (!isAnswer || reply.rttMs === null) {
    log("warn", "The echo was not answered", {
      status: reply.status,
      ...(reply.code === undefined ? {} : { code: reply.code }),
      ...(reply.from === undefined ? {} : { from: reply.from }),
    });
    return false;
  }
  samples.set(DURATION, reply.rttMs / 1000, RTT);
  if (reply.ttl !== null) samples.set(HOP_LIMIT, reply.ttl);
  log("info", "Found matching reply packet");
  return true;
}

/**
 * Returns why packets to an address cannot be sent from `source`, null if they can. A datagram socket is bound to it,
 * because the raw socket takes any address and would send packets with a forged one.
 */
function whyNotFrom(source: string, ip: string, signal: AbortSignal): Promise<string | null> {
  if (isIP(source) !== isIP(ip)) return Promise.resolve(`listen ${source}: no suitable address found`);
  return new Promise((resolve) => {
    const socket = createSocket(isIPv4(source) ? "udp4" : "udp6");
    const end = (fault: string | null): void => {
      signal.removeEventListener("abort", giveUp);
      socket.removeAllListeners("error").on("error", () => {});
      socket.close();
      resolve(fault);
    };
    const giveUp = (): void => end("i/o timeout");
    if (signal.aborted) return giveUp();
    signal.addEventListener("abort", giveUp, { once: true });
    socket.once("error", (error) => end(`listen ${source}: bind: ${describeError(error)}`));
    socket.bind({ address: source, port: 0, exclusive: true }, () => end(null));
    return undefined;
  });
}
