import { startEcho, type RunTools } from "#probe-agent/net/icmp/echo.ts";
import type { IcmpSockets } from "#probe-agent/net/icmp/capabilities.ts";
import type { IpVersion } from "#probe-agent/port/address.ts";
import type { EchoReply } from "#probe-agent/port/packets.ts";

/** Output of `--self-test`: the available sockets, and the result of echoes to the loopback. */
interface SelfTest {
  readonly icmp4: boolean;
  readonly icmp6: boolean;
  /** Median RTT of the loopback in milliseconds. Null if no reply arrived. */
  readonly loopback4_ms: number | null;
  readonly loopback6_ms: number | null;
  readonly missing: readonly string[];
}

const LOOPBACK = { 4: "127.0.0.1", 6: "::1" } as const;
const ECHOES = 100;

/** Pings the loopback of each family that has a socket. */
export async function selfTest(tools: RunTools, sockets: IcmpSockets): Promise<SelfTest> {
  const { v4, v6, missing } = sockets.capabilities;
  return {
    icmp4: v4,
    icmp6: v6,
    loopback4_ms: await loopbackRtt(tools, sockets, 4),
    loopback6_ms: await loopbackRtt(tools, sockets, 6),
    missing,
  };
}

/**
 * Returns the median RTT of a hundred loopback echoes in milliseconds. Null without a socket or without replies. The
 * process also runs this at start: the first packets of a new process are slow, and they should not be part of a
 * measurement.
 */
export async function loopbackRtt(tools: RunTools, sockets: IcmpSockets, version: IpVersion): Promise<number | null> {
  const socket = sockets.of(version);
  if (socket === null) return null;
  const replies: EchoReply[] = [];
  await new Promise<void>((resolve) => {
    const request = { ip: LOOPBACK[version], count: ECHOES, intervalMs: 1, size: 56, ttl: 64, timeoutMs: 200 };
    startEcho(tools, socket, request, {
      reply: (reply) => replies.push(reply),
      done: () => resolve(),
      failed: () => resolve(),
    });
  });
  const rtts = replies.flatMap(({ rttMs }) => rttMs ?? []).toSorted((one, other) => one - other);
  return rtts[Math.floor(rtts.length / 2)] ?? null;
}
