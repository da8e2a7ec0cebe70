// The ICMP process of one agent: raw sockets, and nothing else that could delay its event loop. A child process of the
// agent (fork). `node probe-agent/net/icmp/main.ts --self-test` prints what it can do on this system.
import { randomBytes } from "node:crypto";
import { openIcmpSockets, type IcmpSockets } from "#probe-agent/net/icmp/capabilities.ts";
import { createDemux } from "#probe-agent/net/icmp/demux.ts";
import { createJobs } from "#probe-agent/net/icmp/jobs.ts";
import { createLagMeter } from "#probe-agent/net/icmp/lag.ts";
import type { FromChild, ToChild, JobEvent } from "#probe-agent/net/icmp/messages.ts";
import { openPacketSocket, type PacketSocket } from "#probe-agent/net/icmp/socket.ts";
import type { ProberTools, SegmentListener } from "#probe-agent/net/icmp/probers/prober.ts";
import type { IpVersion } from "#probe-agent/port/address.ts";
import { startEcho, type RunTools } from "#probe-agent/net/icmp/echo.ts";
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
async function selfTest(tools: RunTools, sockets: IcmpSockets): Promise<SelfTest> {
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
async function loopbackRtt(tools: RunTools, sockets: IcmpSockets, version: IpVersion): Promise<number | null> {
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

const EXIT_SOCKET_LOST = 3;
// Long enough to bundle a flood of events, short enough to look live.
const FLUSH_AFTER_MS = 4;
/** Below this number of running jobs, no batch is worth waiting for. */
const FEW_JOBS = 4;

const clock = (): number => Number(process.hrtime.bigint()) / 1e6;
const demux = createDemux(() => randomBytes(2).readUInt16BE(0));
const tools = { clock, random: randomBytes, demux, lag: createLagMeter(clock) };
// A lost socket is replaced together with the process: the agent starts a new one.
const sockets = await openIcmpSockets(clock, demux, (message) => {
  process.stderr.write(`icmp: ${message}\n`);
  process.exit(EXIT_SOCKET_LOST);
});

if (process.argv.includes("--self-test")) {
  process.stdout.write(`${JSON.stringify(await selfTest(tools, sockets))}\n`);
  process.exit(0);
}

// The agent decides when to stop: it drains first, then closes the channel.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => {});
process.on("SIGHUP", () => {});
process.on("disconnect", () => process.exit(0));

const send = (message: FromChild): void => {
  // The channel may have been closed; then the process is about to exit.
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
};
const openTcp = { 4: createSharedTcp(4), 6: createSharedTcp(6) };

const jobs = createJobs(tools, sockets, openTcp, createOutbox());
await loopbackRtt(tools, sockets, 4);
await loopbackRtt(tools, sockets, 6);
process.on("message", (message: ToChild) => jobs.handle(message));
send({ kind: "ready", capabilities: sockets.capabilities });

/**
 * Creates a sender that sends events in batches, so that IPC with the agent never delays the time stamp of a packet. The
 * end of a job beside which few others run is sent once all packets that are here have their time stamps.
 */
function createOutbox(): (event: JobEvent, left?: number) => void {
  let events: JobEvent[] = [];
  let timer: NodeJS.Timeout | null = null;
  const flush = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (events.length > 0) send({ kind: "events", events });
    events = [];
  };
  return (event, left = Infinity) => {
    events.push(event);
    if (left < FEW_JOBS) setImmediate(flush);
    else timer ??= setTimeout(flush, FLUSH_AFTER_MS);
  };
}

/**
 * Creates the raw TCP socket that all TCP traces of a family share. It receives a copy of every segment of the host, so
 * it is open only while a trace needs it.
 */
function createSharedTcp(version: IpVersion): ProberTools["openTcp"] {
  const listeners = new Set<SegmentListener>();
  let opening: Promise<PacketSocket> | null = null;
  const release = (listener: SegmentListener): void => {
    listeners.delete(listener);
    if (listeners.size > 0 || opening === null) return;
    const closing = opening;
    opening = null;
    closing.then((socket) => socket.close()).catch(() => {});
  };
  return async (listener) => {
    listeners.add(listener);
    opening ??= openPacketSocket({
      version,
      protocol: "tcp",
      clock,
      onPacket: (packet, from, at) => listeners.forEach((each) => each(packet, { from, at })),
      // The running traces receive no more answers. The next trace opens a new socket.
      onLost: () => (opening = null),
    });
    try {
      return { socket: await opening, release: () => release(listener) };
    } catch (error) {
      listeners.delete(listener);
      opening = null;
      throw error;
    }
  };
}
