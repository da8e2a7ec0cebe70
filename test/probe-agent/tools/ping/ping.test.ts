import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { Value } from "typebox/value";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Outcome } from "#shared/contracts/outcome.ts";
import { parseParams } from "#shared/schema/schema.ts";
import { ping as contract, type PingResult } from "#shared/tools/ping/contract.ts";
import { createIcmp } from "#probe-agent/net/icmp.ts";
import { startIcmpHost, type IcmpHost } from "#probe-agent/net/icmp/host.ts";
import { createTcp } from "#probe-agent/net/tcp.ts";
import { createTrace } from "#probe-agent/net/trace.ts";
import { ping } from "#probe-agent/tools/ping/ping.ts";
import { ROOT } from "#test/laws/source-files.ts";
import { startDeafServer } from "#test/servers/deaf.ts";
import { startDnsServer, type DnsServer } from "#test/servers/dns.ts";
import { systemClock } from "#test/support/clock.ts";
import { testServices } from "#test/support/services.ts";
import { dnsPort, jobLimits, loopbackEgress, netOf } from "#test/support/net.ts";
import { endsBy } from "#test/support/deadlines.ts";

let host: IcmpHost;
let names: DnsServer;
let raw = false;

beforeAll(async () => {
  host = startIcmpHost({ clock: systemClock, log: () => {} });
  raw = (await host.ready()).v4;
  names = await startDnsServer({
    zones: {
      "www.example.net": { A: ["127.0.0.3"] },
      "mixed.example.net": { A: ["10.0.0.1", "127.0.0.3"] },
      "1.0.0.127.in-addr.arpa": { PTR: ["router.example.net."] },
    },
    behaviours: { "slow.example.net": { drop: true } },
  });
});
afterAll(async () => {
  await Promise.all([host?.stop(), names?.close()]);
});

function parse(given: Readonly<Record<string, unknown>>): Parameters<typeof ping.run>[1] {
  const parsed = parseParams(contract.params, given, { from: "json", unknown: "refuse" });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problem));
  return parsed.value as Parameters<typeof ping.run>[1];
}

/** Runs the tool in this process, within the contract's own deadline. */
async function run(given: Readonly<Record<string, unknown>>) {
  const params = parse(given);
  const limits = jobLimits(contract.deadlineMs(params));
  const egress = loopbackEgress;
  const clock = systemClock;
  const net = netOf(
    {
      dns: dnsPort([names.address], { limits }),
      tcp: createTcp({ egress, clock })(limits),
      icmp: createIcmp({ host, egress })(limits),
      trace: createTrace({ host, egress, clock })(limits),
      services: testServices(),
    },
    limits,
  );
  return { outcome: await ping.run(net, params), events: net.events };
}

function resultOf(outcome: Outcome<PingResult>): PingResult {
  if (outcome.status !== "ok") throw new Error(JSON.stringify(outcome));
  expect(Array.from(Value.Errors(contract.result, outcome.data))).toEqual([]);
  return outcome.data;
}

/** Runs the tool in a process without CAP_NET_RAW. */
async function runWithoutRights(params: Readonly<Record<string, unknown>>): Promise<Outcome<PingResult>> {
  const order = JSON.stringify({ params, allow: ["127.0.0.0/8", "::1/128"] });
  const command = [process.execPath, `${ROOT}/test/support/ping-here.ts`, order];
  const dropped = process.getuid?.() === 0 ? ["setpriv", "--bounding-set=-net_raw", ...command] : command;
  const stdout = await new Promise<string>((resolve, reject) => {
    execFile(dropped[0] ?? "", dropped.slice(1), (error, text) => {
      if (error === null) resolve(text);
      else reject(error);
    });
  });
  return (JSON.parse(stdout) as { readonly outcome: Outcome<PingResult> }).outcome;
}

describe("a ping by ICMP", () => {
  it("has every figure, and emits each reply live", async (context) => {
    if (!raw) context.skip("skipped: raw sockets need CAP_NET_RAW");
    const { outcome, events } = await run({ host: "www.example.net" });
    const { elapsed_ms: elapsed, observed_at: at, rtt, clock_error_ms: clockError, ...result } = resultOf(outcome);
    expect(result).toMatchObject({
      action: "ping",
      host: "www.example.net",
      ip: "127.0.0.3",
      ip_version: 4,
      method: "icmp",
      port: null,
      packets_sent: 4,
      packets_received: 4,
      packet_loss_percent: 0,
      limitations: [],
    });
    expect(result.replies?.map(({ seq, status, ttl }) => [seq, status, ttl])).toEqual(
      [1, 2, 3, 4].map((seq) => [seq, "ok", 64]),
    );
    expect(events).toEqual(result.replies?.map((data) => ({ kind: "reply", data })));
    expect(rtt?.min_ms).toBe(Math.min(...(result.replies ?? []).map((reply) => reply.rtt_ms ?? Infinity)));
    expect(clockError).toBeGreaterThanOrEqual(0);
    // Three gaps of 200 ms, not the whole deadline.
    expect(elapsed).toBeGreaterThan(590);
    expect(new Date(at).toISOString()).toBe(at);
  });

  it("leaves out refused addresses of the host and says so", async (context) => {
    if (!raw) context.skip("skipped: raw sockets need CAP_NET_RAW");
    const result = resultOf((await run({ host: "mixed.example.net", count: 1 })).outcome);
    expect(result.ip).toBe("127.0.0.3");
    expect(result.limitations.join()).toContain("10.0.0.1");
  });
});

describe("a ping by TCP", () => {
  it("replaces ICMP if the agent cannot send it, and says so", async () => {
    const result = resultOf(await runWithoutRights({ host: "127.0.0.1", count: 2, interval_ms: 100 }));
    expect(result).toMatchObject({ method: "tcp", port: 443, packets_sent: 2, packets_received: 2 });
    expect(result.replies?.map(({ status, ttl }) => [status, ttl])).toEqual([
      ["ok", null],
      ["ok", null],
    ]);
    expect(result.limitations.join()).toMatch(/cannot send ICMP/);
  });

  it("does not replace ICMP that was requested explicitly", async () => {
    const outcome = await runWithoutRights({ host: "127.0.0.1", protocol: "icmp" });
    expect(outcome).toMatchObject({ status: "failed", source: "probe", reason: "unsupported" });
    const trace = await runWithoutRights({ host: "127.0.0.1", action: "traceroute" });
    expect(trace).toMatchObject({ status: "failed", source: "probe", reason: "unsupported" });
  });

  it("counts a handshake and a reset as replies", async () => {
    const server = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const open = resultOf((await run({ host: "127.0.0.1", port, count: 2, interval_ms: 100 })).outcome);
    expect(open).toMatchObject({ method: "tcp", port, packets_received: 2, packet_loss_percent: 0 });
    await new Promise((resolve) => server.close(resolve));
    const { outcome, events } = await run({ host: "127.0.0.1", port, protocol: "tcp", count: 2, interval_ms: 100 });
    expect(resultOf(outcome)).toMatchObject({ method: "tcp", port, packets_received: 2 });
    expect(events).toHaveLength(2);
  });

  it("is a result with null figures when no reply arrives", async () => {
    const deaf = await startDeafServer();
    const { outcome } = await run({ host: "127.0.0.1", port: deaf.port, count: 2, interval_ms: 100 });
    const result = resultOf(outcome);
    expect(result).toMatchObject({ packets_sent: 2, packets_received: 0, packet_loss_percent: 100 });
    expect(new Set(Object.values(result.rtt ?? {}))).toEqual(new Set([null]));
    expect(result.replies?.map(({ status }) => status)).toEqual(["timeout", "timeout"]);
    await deaf.close();
  });

  it("counts a lost SYN as lost, although the kernel would send it again and get an answer", async () => {
    const deaf = await startDeafServer();
    setTimeout(() => deaf.hear(), 500);
    const { outcome } = await run({ host: "127.0.0.1", port: deaf.port, count: 2, interval_ms: 1_000 });
    const result = resultOf(outcome);
    expect(result.replies?.map(({ status }) => status)).toEqual(["timeout", "ok"]);
    expect(result).toMatchObject({ packets_received: 1, packet_loss_percent: 50 });
    expect(result.rtt?.max_ms).toBeLessThan(900);
    expect(result.limitations.join()).toMatch(/counts as lost/);
    await deaf.close();
  });

  it("continues with port 80 if 443 does not answer", async (context) => {
    const deaf = await startDeafServer("127.0.0.77", 443).catch(() => null);
    if (deaf === null) return context.skip("skipped: port 443 needs CAP_NET_BIND_SERVICE");
    const result = resultOf((await run({ host: "127.0.0.77", protocol: "tcp", count: 2, interval_ms: 100 })).outcome);
    expect(result).toMatchObject({ method: "tcp", port: 80, packets_sent: 2, packets_received: 2 });
    expect(result.limitations).toEqual(["Port 443 did not answer one handshake, so port 80 was used."]);
    await deaf.close();
  });
});

describe("ports", () => {
  it("are open, closed or filtered, in the requested order", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port: open } = server.address() as AddressInfo;
    const deaf = await startDeafServer();
    const ports = `${deaf.port},6379,${open}`;
    const { outcome, events } = await run({ host: "127.0.0.1", action: "ports", ports });
    const result = resultOf(outcome);
    expect(result.ports).toEqual([
      { port: deaf.port, state: "filtered", service: null, rtt_ms: null, reason: "timeout", tries: 4 },
      { port: 6379, state: "closed", service: "redis", rtt_ms: expect.any(Number) as number, reason: null, tries: 1 },
      { port: open, state: "open", service: null, rtt_ms: expect.any(Number) as number, reason: null, tries: 1 },
    ]);
    expect(result.limitations.join()).toMatch(/no handshake was answered within 900 ms/);
    expect(result).not.toHaveProperty("rtt");
    expect(events.map(({ kind }) => kind)).toEqual(["port", "port", "port"]);
    server.close();
    await deaf.close();
  });
});

describe("a port whose first SYN is lost", () => {
  it("is open nevertheless, and its time is that of the answered handshake", async () => {
    const deaf = await startDeafServer();
    setTimeout(() => deaf.hear(), 500);
    const result = resultOf((await run({ host: "127.0.0.1", action: "ports", ports: `${deaf.port}` })).outcome);
    expect(result.ports).toMatchObject([{ state: "open", tries: 2, reason: null }]);
    expect(result.ports?.[0]?.rtt_ms).toBeLessThan(900);
    expect(result.limitations).toEqual([]);
    await deaf.close();
  });
});

describe("a traceroute", () => {
  it("looks up the names of its hops after the trace", async (context) => {
    if (!raw) context.skip("skipped: raw sockets need CAP_NET_RAW");
    const { outcome, events } = await run({ host: "127.0.0.1", action: "traceroute", queries: 2 });
    const result = resultOf(outcome);
    expect(result).toMatchObject({ reached: true, protocol: "icmp", limitations: [] });
    expect(result.path_hash).toMatch(/^[0-9a-f]{16}$/);
    const [hop] = result.hops ?? [];
    expect(hop).toMatchObject({ hop: 1, loss_percent: 0 });
    expect(hop?.replies).toHaveLength(2);
    expect(hop?.stats).toMatchObject({ received: 2, loss_percent: 0 });
    expect(result).toMatchObject({ unreachable: null, path_mtu: { limited_by: null, method: "interface" } });
    expect(hop?.replies[0]).toMatchObject({ ip: "127.0.0.1", hostname: "router.example.net", asn: null, icmp_type: 0 });
    expect(events).toMatchObject([{ kind: "hop", data: { hop: 1, replies: [{ hostname: null }, {}] } }]);
  });
});

describe("requests that cannot be fulfilled", () => {
  it("are refused before anything is sent", async () => {
    expect((await run({ host: "10.0.0.1" })).outcome).toEqual({ status: "refused" });
    expect((await run({ host: "nowhere.example.net" })).outcome).toMatchObject({ status: "failed", stage: "dns" });
    expect((await run({ host: "127.0.0.1", ip_version: 6 })).outcome).toMatchObject({ status: "failed", stage: "dns" });
  });

  it("end in time when no resolver answers for the name", async () => {
    const given = { host: "slow.example.net", count: 1, interval_ms: 100 };
    const { outcome } = await endsBy(contract.deadlineMs(parse(given)), () => run(given));
    expect(outcome).toMatchObject({ status: "failed", stage: "dns" });
  });

  it("are rejected by the agent too if the job does not contain the ports", async () => {
    const outcome = await ping.run(netOf({}), parse({ host: "127.0.0.1", action: "ports" }));
    expect(outcome).toMatchObject({ status: "invalid", field: "ports" });
  });
});
