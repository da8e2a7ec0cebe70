import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { probeIcmp } from "#probe-agent/exporter/probe-icmp.ts";
import type { IcmpOptions } from "#shared/blackbox/module.ts";
import { startIcmpHost, type IcmpHost } from "#probe-agent/net/icmp/host.ts";
import type { JobEvent } from "#probe-agent/net/icmp/messages.ts";
import type { EchoReply, EchoRequest } from "#probe-agent/port/packets.ts";
import { noIcmp, proberContext, recordProbe, type RecordedProbe } from "#test/probe-agent/exporter/recorded-probe.ts";
import { systemClock } from "#test/support/clock.ts";
import { hasRawSockets } from "#test/support/raw-sockets.ts";

const raw = await hasRawSockets();
if (!raw) console.warn("skipped: raw sockets need CAP_NET_RAW");

const OPTIONS: IcmpOptions = {
  preferred_ip_protocol: "ip4",
  ip_protocol_fallback: true,
  source_ip_address: null,
  dont_fragment: false,
  payload_size: 0,
  ttl: 64,
};

/** Names of the families that every ICMP probe of an address has. */
const FAMILIES = [
  "probe_dns_lookup_time_seconds",
  'probe_icmp_duration_seconds{phase="resolve"}',
  'probe_icmp_duration_seconds{phase="rtt"}',
  'probe_icmp_duration_seconds{phase="setup"}',
  "probe_ip_addr_hash",
  "probe_ip_protocol",
];

const RTT = 'probe_icmp_duration_seconds{phase="rtt"}';
const SETUP = 'probe_icmp_duration_seconds{phase="setup"}';

async function run(host: IcmpHost, options: Partial<IcmpOptions>, probe: RecordedProbe = recordProbe("127.0.0.1")) {
  const verdict = await probeIcmp(probe, { ...OPTIONS, ...options }, proberContext({ icmpHost: host }));
  return { verdict, metrics: probe.metrics(), last: probe.lines.at(-1) };
}

/** An ICMP host that answers an echo with the given events and records what it is asked for. */
function scripted(...events: readonly Omit<Extract<JobEvent, { kind: "reply" | "failed" }>, "job">[]) {
  const requests: EchoRequest[] = [];
  let cancelled = 0;
  const host: IcmpHost = {
    ...noIcmp([]),
    start(order, onEvent) {
      if (order.kind !== "echo") throw new Error("not an echo");
      requests.push(order.request);
      queueMicrotask(() => {
        for (const event of events) onEvent({ job: 1, ...event } as JobEvent);
        if (events.length > 0) onEvent({ job: 1, kind: "echo_done", clockErrorMs: 0 });
      });
      return () => void (cancelled += 1);
    },
  };
  return { host, requests, cancelled: () => cancelled };
}

const reply = (fields: Partial<EchoReply>) =>
  ({ kind: "reply", reply: { seq: 1, rttMs: 12.5, ttl: 57, status: "ok", ...fields } }) as const;

describe("an ICMP probe", () => {
  it("shows the round trip in seconds and the hop limit of the reply", async () => {
    const { host, requests } = scripted(reply({}));
    const { verdict, metrics } = await run(host, {});
    expect(verdict).toBe("success");
    expect(Object.keys(metrics).toSorted()).toEqual([...FAMILIES, "probe_icmp_reply_hop_limit"].toSorted());
    expect(metrics).toMatchObject({ [RTT]: 0.0125, probe_icmp_reply_hop_limit: 57, probe_ip_protocol: 4 });
    expect(requests).toEqual([
      {
        ip: "127.0.0.1",
        count: 1,
        intervalMs: 0,
        size: 28,
        ttl: 64,
        timeoutMs: expect.any(Number) as number,
        dontFragment: false,
      },
    ]);
  });

  it("sends what its module says; fragments are forbidden on IPv4 alone", async () => {
    const { host, requests } = scripted(reply({}));
    const options = { payload_size: 1_400, ttl: 7, dont_fragment: true } as const;
    await run(host, { ...options, source_ip_address: "127.0.0.9" });
    await run(host, options, recordProbe("::1"));
    await run(host, { ttl: 0, source_ip_address: "0.0.0.0" });
    expect(requests).toMatchObject([
      { size: 1_400, ttl: 7, dontFragment: true, source: "127.0.0.9" },
      { ip: "::1", dontFragment: false },
      { ttl: 64 },
    ]);
    expect(requests[2]).not.toHaveProperty("source");
  });

  it("succeeds with a late reply, and with no other than an intact one of the target", async () => {
    expect((await run(scripted(reply({ status: "late", rttMs: 2_000 })).host, {})).verdict).toBe("success");
    const others: Partial<EchoReply>[] = [
      { status: "timeout", rttMs: null, ttl: null },
      { status: "corrupt" },
      { from: "127.0.0.2" },
      { status: "unreachable", rttMs: null, ttl: null, code: 1, from: "127.0.0.2" },
      { status: "ttl_exceeded", rttMs: null, ttl: null, code: 0, from: "127.0.0.2" },
    ];
    for (const other of others) {
      const { verdict, metrics, last } = await run(scripted(reply(other)).host, {});
      expect([verdict, metrics[RTT], Object.keys(metrics).toSorted()]).toEqual(["failure", 0, FAMILIES.toSorted()]);
      expect(last?.level).toBe("warn");
    }
  });

  it("fails and says what is missing without a raw socket", async () => {
    const { verdict, metrics, last } = await run(noIcmp(["ICMP over IPv4: raw sockets need CAP_NET_RAW"]), {});
    expect([verdict, metrics[SETUP], metrics[RTT]]).toEqual(["failure", 0, 0]);
    expect(last).toMatchObject({
      level: "error",
      message: "Error listening to socket",
      fields: { err: "ICMP over IPv4: raw sockets need CAP_NET_RAW" },
    });
  });

  it("fails when the echo cannot be sent, and does not try one that no packet can hold", async () => {
    const failed = { kind: "failed", reason: "network_unreachable", message: "Network is unreachable" } as const;
    const unsent = await run(scripted(failed).host, {});
    expect([unsent.verdict, unsent.last?.message, unsent.last?.fields["err"]]).toEqual([
      "failure",
      "Error writing to socket",
      "Network is unreachable",
    ]);
    const { host, requests } = scripted(reply({}));
    const long = await run(host, { payload_size: 2 ** 31 });
    expect([long.verdict, long.last?.message, requests]).toEqual(["failure", "Error writing to socket", []]);
  });

  it("does not send from an address that this host does not have, or of the other family", async () => {
    const { host, requests } = scripted(reply({}));
    for (const source of ["198.51.100.1", "::1"]) {
      const { verdict, metrics, last } = await run(host, { source_ip_address: source });
      expect([verdict, metrics[SETUP], last?.message]).toEqual(["failure", 0, "Error listening to socket"]);
    }
    expect(requests).toEqual([]);
  });

  it("cancels its echo when it ends, and sends none if it has ended", async () => {
    const { host, requests, cancelled } = scripted();
    const ended = new AbortController();
    const running = run(host, {}, recordProbe("127.0.0.1", { signal: ended.signal }));
    await expect.poll(() => requests.length).toBe(1);
    ended.abort();
    expect([(await running).verdict, cancelled()]).toEqual(["failure", 1]);
    await run(host, {}, recordProbe("127.0.0.1", { signal: AbortSignal.abort() }));
    expect(requests.length).toBe(1);
  });

  it("has its families, at zero, when the host has no address or is not allowed", async () => {
    const probe = recordProbe("127.0.0.1:53");
    const unknown = await run(scripted().host, {}, probe);
    expect(unknown.verdict).toBe("failure");
    expect(Object.keys(unknown.metrics).toSorted()).toEqual(FAMILIES.toSorted());
    const refused = recordProbe("127.0.0.1");
    expect(await probeIcmp(refused, OPTIONS, proberContext({ allows: () => false }))).toBe("refused");
    expect(refused.metrics()).toMatchObject({ [RTT]: 0, [SETUP]: 0, probe_ip_protocol: 0 });
  });
});

describe.skipIf(!raw)("an ICMP probe of the loopback", () => {
  let host: IcmpHost;
  beforeAll(async () => {
    host = startIcmpHost({ clock: systemClock, log: () => {} });
    await host.ready();
  });
  afterAll(() => host?.stop());

  /** Records the echo requests that arrive at 127.0.0.0/8 while a probe runs: their IP headers and payload sizes. */
  async function seenDuring(probing: () => Promise<unknown>) {
    const { default: rawSocket } = await import("raw-socket");
    const socket = rawSocket.createSocket({ addressFamily: 1, protocol: 1, bufferSize: 65_536 });
    const seen: { source: string; ttl: number; isWhole: boolean; size: number }[] = [];
    socket.on("error", () => {});
    socket.on("message", (packet) => {
      if (packet[20] !== 8) return;
      const source = packet.subarray(12, 16).join(".");
      const ttl = packet.readUInt8(8);
      seen.push({ source, ttl, isWhole: (packet.readUInt8(6) & 0x40) !== 0, size: packet.length - 28 });
    });
    await probing();
    return { seen, close: () => socket.close() };
  }

  it("sends its size and TTL from its address, and forbids fragments", async () => {
    const options = { source_ip_address: "127.0.0.9", payload_size: 333, ttl: 9, dont_fragment: true } as const;
    const { seen, close } = await seenDuring(async () => {
      expect(await run(host, options)).toMatchObject({
        verdict: "success",
        metrics: { probe_icmp_reply_hop_limit: 64 },
      });
    });
    await expect.poll(() => seen).toContainEqual({ source: "127.0.0.9", ttl: 9, isWhole: true, size: 333 });
    close();
  });

  it("allows fragments of an echo with an address unless its module forbids them", async () => {
    const { seen, close } = await seenDuring(() => run(host, { source_ip_address: "127.0.0.8" }));
    await expect.poll(() => seen).toContainEqual({ source: "127.0.0.8", ttl: 64, isWhole: false, size: 28 });
    close();
  });

  it("sends the next echo of the process from the kernel's choice again", async () => {
    await run(host, { source_ip_address: "127.0.0.9", ttl: 3 });
    const { seen, close } = await seenDuring(() => run(host, { payload_size: 77 }));
    await expect.poll(() => seen.find(({ size }) => size === 77)).toMatchObject({ source: "127.0.0.1", ttl: 64 });
    close();
  });

  it("sends payloads up to the largest packet, and fails beyond", async () => {
    expect((await run(host, { payload_size: 65_507 })).verdict).toBe("success");
    expect((await run(host, { payload_size: 65_508 })).verdict).toBe("failure");
  });

  it("works over IPv6, also from an address, where a reply shows no hop limit", async (context) => {
    if (!host.capabilities().v6) context.skip("skipped: no IPv6 here");
    for (const source of [null, "::1"]) {
      const { verdict, metrics } = await run(host, { source_ip_address: source, ttl: 5 }, recordProbe("::1"));
      expect([verdict, metrics["probe_ip_protocol"]]).toEqual(["success", 6]);
      expect(metrics[RTT]).toBeGreaterThan(0);
      expect(metrics).not.toHaveProperty("probe_icmp_reply_hop_limit");
    }
  });
});
