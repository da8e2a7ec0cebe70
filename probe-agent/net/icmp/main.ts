// The ICMP process of one agent: raw sockets, and nothing else that could delay its event loop. A child process of the
// agent (fork). `node probe-agent/net/icmp/main.ts --self-test` prints what it can do on this system.
import { randomBytes } from "node:crypto";
import { openIcmpSockets } from "#probe-agent/net/icmp/capabilities.ts";
import { createDemux } from "#probe-agent/net/icmp/demux.ts";
import { createJobs } from "#probe-agent/net/icmp/jobs.ts";
import { createLagMeter } from "#probe-agent/net/icmp/lag.ts";
import type { FromChild, ToChild } from "#probe-agent/net/icmp/messages.ts";
import { createOutbox } from "#probe-agent/net/icmp/outbox.ts";
import { loopbackRtt, selfTest } from "#probe-agent/net/icmp/self-test.ts";
import { createSharedTcp } from "#probe-agent/net/icmp/probers/shared-tcp.ts";

const EXIT_SOCKET_LOST = 3;

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
const openTcp = { 4: createSharedTcp(4, clock), 6: createSharedTcp(6, clock) };
const jobs = createJobs(
  tools,
  sockets,
  openTcp,
  createOutbox((events) => send({ kind: "events", events })),
);
await loopbackRtt(tools, sockets, 4);
await loopbackRtt(tools, sockets, 6);
process.on("message", (message: ToChild) => jobs.handle(message));
send({ kind: "ready", capabilities: sockets.capabilities });
