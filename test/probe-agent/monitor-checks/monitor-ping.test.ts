import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Value } from "typebox/value";
import { ping as pingContract } from "#shared/tools/ping/contract.ts";
import { monitorPing } from "#probe-agent/monitor-checks/monitor-ping.ts";
import { startIcmpHost, type IcmpHost } from "#probe-agent/net/icmp/host.ts";
import type { EchoReply } from "#probe-agent/port/packets.ts";
import { startDnsServer, type DnsServer } from "#test/servers/dns.ts";
import { systemClock } from "#test/support/clock.ts";
import { failureOf } from "#test/support/http-engine.ts";
import { runMonitor, verdictOf } from "#test/support/monitor-check.ts";
import { dnsPort, jobLimits, netOf } from "#test/support/net.ts";

let icmpHost: IcmpHost;
let raw = false;
let names: DnsServer;
beforeAll(async () => {
  icmpHost = startIcmpHost({ clock: systemClock, log: () => {} });
  raw = (await icmpHost.ready()).v4;
  names = await startDnsServer({ zones: { "www.example.net": { A: ["127.0.0.3"] } } });
});
afterAll(() => Promise.all([icmpHost.stop(), names.close()]));

/** Runs the check on a network where three echo requests have these answers. */
async function onReplies(replies: readonly EchoReply[]) {
  const limits = jobLimits(5_000);
  const net = netOf(
    {
      dns: dnsPort([names.address], { limits }),
      icmp: {
        ready: () => Promise.resolve(),
        available: () => ({ v4: true, v6: true }),
        echo: () => Promise.resolve({ status: "ok", data: { replies, clockErrorMs: 0 } }),
      },
    },
    limits,
  );
  return await monitorPing.run(net, { host: "127.0.0.1", timeout_seconds: 5, known: "up", always_whole: false });
}

const lost = (seq: number): EchoReply => ({ seq, rttMs: null, ttl: null, status: "timeout" });
const unreachable = (seq: number, code: number): EchoReply => ({
  ...lost(seq),
  status: "unreachable",
  code,
  from: "192.0.2.1",
});

describe("a host", () => {
  it("that answers echo requests is up, with their mean round trip", async (context) => {
    if (!raw) context.skip("skipped: raw sockets need CAP_NET_RAW");
    const setting = { icmpHost, dnsServers: [names.address] };
    const result = await verdictOf(monitorPing, { host: "www.example.net" }, setting);
    expect(result).toMatchObject({ verdict: "up", http_status: null, fault: null, whole: null });
    const { whole } = await verdictOf(monitorPing, { host: "www.example.net", always_whole: true }, setting);
    expect(Array.from(Value.Errors(pingContract.result, whole))).toEqual([]);
    expect(whole).toMatchObject({ method: "icmp", packets_sent: 3, packets_received: 3 });
  });

  it("that answers TCP handshakes is up where the agent has no raw sockets", async () => {
    const { whole, verdict } = await verdictOf(monitorPing, { host: "127.0.0.1", known: null });
    expect([verdict, whole]).toMatchObject(["up", { method: "tcp", packets_sent: 3 }]);
  });

  it("that answers one of three requests is up", async () => {
    const outcome = await onReplies([{ seq: 2, rttMs: 4.5, ttl: 60, status: "ok" }, lost(1), lost(3)]);
    expect(outcome).toMatchObject({ status: "ok", data: { verdict: "up", response_ms: 4.5 } });
  });

  it("that answers none is a failure", async () => {
    const outcome = await onReplies([lost(1), lost(2), lost(3)]);
    expect(failureOf(outcome)).toBe("connect/target/timeout");
    expect(outcome).toMatchObject({ message: "no answer from 127.0.0.1 to 3 echo requests" });
  });

  it.each([
    [1, "host_unreachable"],
    [13, "admin_prohibited"],
    [99, "other"],
  ])("that a router reports as unreachable (code %i) is a failure with that reason: %s", async (code, reason) => {
    const outcome = await onReplies([unreachable(1, code), lost(2), lost(3)]);
    expect(failureOf(outcome)).toBe(`connect/target/${reason}`);
    expect(outcome).toMatchObject({ message: `192.0.2.1 reports that 127.0.0.1 is not reachable (${reason})` });
  });

  it("that does not exist fails with the reason of its look-up", async () => {
    const outcome = await runMonitor(monitorPing, { host: "absent.example.net" }, { dnsServers: [names.address] });
    expect(failureOf(outcome)).toBe("dns/target/nxdomain");
    expect(await runMonitor(monitorPing, { host: "10.0.0.1" })).toEqual({ status: "refused" });
  });
});
