import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NO_ALLOW_LISTS, createEgress } from "#shared/internet/egress.ts";
import { startIcmpHost, type IcmpHost } from "#probe-agent/net/icmp/host.ts";
import { createIcmp } from "#probe-agent/net/icmp.ts";
import type { EchoReply, EchoRequest } from "#probe-agent/port/packets.ts";
import { createTrace } from "#probe-agent/net/trace.ts";
import { systemClock } from "#test/support/clock.ts";
import { jobLimits, loopbackEgress } from "#test/support/net.ts";
import { hasRawSockets } from "#test/support/raw-sockets.ts";
import { until } from "#test/support/until.ts";

const raw = await hasRawSockets();
if (!raw) console.warn("skipped: raw sockets need CAP_NET_RAW");

const ECHO: EchoRequest = { ip: "127.0.0.1", count: 4, intervalMs: 10, size: 56, ttl: 64, timeoutMs: 30_000 };

/** The limits of a job that ends long before them. */
const patient = (signal?: AbortSignal) => jobLimits(120_000, signal);

describe.skipIf(!raw)("the ICMP process", () => {
  let host: IcmpHost;
  const lines: string[] = [];
  beforeAll(async () => {
    host = startIcmpHost({
      clock: systemClock,
      log: (line) => lines.push(line),
      backOffMs: { first: 20, longest: 100 },
    });
    await host.ready();
  });
  afterAll(() => host?.stop());

  const port = (limits = patient()) => createIcmp({ host, egress: loopbackEgress })(limits);
  const trace = (limits = patient()) => createTrace({ host, egress: loopbackEgress, clock: systemClock })(limits);

  it("pings the loopback and reports each reply as it arrives", async () => {
    const live: EchoReply[] = [];
    const run = await port().echo(ECHO, (reply) => live.push(reply));
    if (run.status !== "ok") throw new Error(JSON.stringify(run));
    expect(run.data.replies).toEqual(live);
    expect(live.map(({ seq, status, ttl }) => [seq, status, ttl])).toEqual([1, 2, 3, 4].map((seq) => [seq, "ok", 64]));
    expect(Math.min(...live.map(({ rttMs }) => rttMs ?? 0))).toBeGreaterThan(0);
    expect(run.data.clockErrorMs).toBeGreaterThanOrEqual(0);
  });

  it("pings over IPv6, where a reply shows no hop limit", async (context) => {
    if (!port().available().v6) context.skip("skipped: no IPv6 here");
    const run = await port().echo({ ...ECHO, ip: "::1" }, () => {});
    expect(run).toMatchObject({ status: "ok", data: { replies: [{ status: "ok", ttl: null }, {}, {}, {}] } });
  });

  it("refuses an address that egress does not allow", async () => {
    const strict = createIcmp({ host, egress: createEgress(NO_ALLOW_LISTS) })(patient());
    expect(await strict.echo(ECHO, () => {})).toEqual({ status: "refused" });
    const strictTrace = createTrace({ host, egress: createEgress(NO_ALLOW_LISTS), clock: systemClock })(patient());
    const request = { ip: "127.0.0.1", protocol: "icmp", maxHops: 3, queries: 1 } as const;
    expect(await strictTrace.run(request, () => {})).toEqual({ status: "refused" });
  });

  it("loses nothing of 5,000 echoes a second over a thousand runs", async () => {
    const runs = Array.from({ length: 1_000 }, async (_, index) => {
      await sleep(index % 200);
      const ip = `127.${1 + (index % 200)}.${index % 250}.1`;
      return await port().echo({ ...ECHO, ip, count: 10, intervalMs: 200 }, () => {});
    });
    const outcomes = await Promise.all(runs);
    const statuses = new Map<string, number>();
    for (const outcome of outcomes) {
      const replies = outcome.status === "ok" ? outcome.data.replies : [{ status: outcome.status }];
      for (const { status } of replies) statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    // A reply that this machine reads late is late, not lost.
    const { ok = 0, late = 0, ...others } = Object.fromEntries(statuses);
    expect({ answered: ok + late, ...others }).toEqual({ answered: 10_000 });
  });

  it.each(["icmp", "udp", "tcp"] as const)("traces the loopback with %s probes", async (protocol) => {
    const hops: number[] = [];
    const run = await trace().run({ ip: "127.0.0.1", protocol, maxHops: 5, queries: 2 }, ({ hop }) => hops.push(hop));
    expect(run).toMatchObject({ status: "ok", data: { reached: true, hops: [{ hop: 1 }] } });
    expect(hops).toEqual([1]);
    const replies = run.status === "ok" ? (run.data.hops[0]?.replies ?? []) : [];
    expect(replies.map(({ ip }) => ip)).toEqual(["127.0.0.1", "127.0.0.1"]);
  });

  it("measures the MTU of the loopback, which takes what an IP packet can hold", async () => {
    const mtu = await trace().pathMtu("127.0.0.1", 30_000);
    expect(mtu).toMatchObject({ status: "ok", data: { limitedBy: null, blackHole: false, method: "interface" } });
    expect(mtu.status === "ok" ? mtu.data.bytes : null).toBeGreaterThan(16_000);
    const strict = createTrace({ host, egress: createEgress(NO_ALLOW_LISTS), clock: systemClock })(patient());
    expect(await strict.pathMtu("127.0.0.1", 30_000)).toEqual({ status: "refused" });
  });

  it("lets few traces in at once and gives up a turn with its check", async () => {
    const turns = createTrace({ host, egress: loopbackEgress, clock: systemClock });
    const request = { ip: "127.0.0.1", protocol: "icmp", maxHops: 5, queries: 5 } as const;
    const aborted = new AbortController();
    const outcomes = [1, 2, 3, 4, 5].map(() => turns(patient()).run(request, () => {}));
    const given = turns(patient(aborted.signal)).run(request, () => {});
    aborted.abort();
    expect(await given).toMatchObject({ status: "failed", source: "probe", reason: "busy" });
    for (const outcome of await Promise.all(outcomes)) expect(outcome).toMatchObject({ data: { reached: true } });
  });

  it("ends a run with its check, at once", async () => {
    const check = new AbortController();
    let replies = 0;
    const run = port(patient(check.signal)).echo({ ...ECHO, count: 10, intervalMs: 1_000 }, () => {
      replies += 1;
      check.abort();
    });
    expect(await run).toMatchObject({ status: "failed", source: "probe", reason: "cancelled" });
    // The next one would have come a second later.
    expect(replies).toBe(1);
  });

  it("is replaced when it dies; what ran in it fails as the probe's fault", async () => {
    const dying = port().echo({ ...ECHO, count: 10, intervalMs: 1_000 }, () => {});
    const before = host.pid();
    if (before === null) throw new Error("no process");
    process.kill(before, "SIGKILL");
    expect(await dying).toMatchObject({ status: "failed", source: "probe", reason: "icmp_process_lost" });
    expect(port().available()).toEqual({ v4: false, v6: false });
    expect(await port().echo(ECHO, () => {})).toMatchObject({ status: "failed", reason: "icmp_process_lost" });
    await until(() => port().available().v4, "another process is ready");
    expect(host.pid()).not.toBe(before);
    expect(await port().echo(ECHO, () => {})).toMatchObject({
      status: "ok",
      data: { replies: [{ status: "ok" }, {}, {}, {}] },
    });
    expect(lines.join("\n")).toMatch(/SIGKILL.*restart in/);
  });
});

describe.skipIf(!raw)("the end of the ICMP process", () => {
  it("comes with the agent's word, not with a signal to both", async () => {
    const host = startIcmpHost({ clock: systemClock, log: () => {} });
    await host.ready();
    const pid = host.pid() ?? 0;
    process.kill(pid, "SIGINT");
    process.kill(pid, "SIGTERM");
    const run = await createIcmp({ host, egress: loopbackEgress })(patient()).echo(ECHO, () => {});
    expect(run.status).toBe("ok");
    await host.stop();
    expect(() => process.kill(pid, 0)).toThrow(/ESRCH/);
    expect(host.pid()).toBeNull();
  });
});

describe.skipIf(!raw)("an ICMP process without work", () => {
  const isGone = (pid: number | null): boolean => {
    try {
      return !process.kill(pid ?? 0, 0);
    } catch {
      return true;
    }
  };

  it("sleeps, keeps its capabilities, and wakes for a job", async () => {
    const lines: string[] = [];
    let restarts = 0;
    const host = startIcmpHost({
      clock: systemClock,
      log: (line) => lines.push(line),
      onRestart: () => (restarts += 1),
      sleepAfterMs: 10,
    });
    const capabilities = await host.ready();
    const icmp = createIcmp({ host, egress: loopbackEgress })(patient());
    for (const wake of [() => icmp.ready(), () => Promise.resolve()]) {
      const pid = host.pid();
      const pids = new Set<number | null>();
      await until(() => host.pid() === null && isGone(pid), "the process has ended");
      expect(host.capabilities()).toEqual(capabilities);
      await wake();
      // Longer than a process without work stays.
      const run = icmp.echo({ ...ECHO, intervalMs: 50 }, () => pids.add(host.pid()));
      expect(await run).toMatchObject({ status: "ok", data: { replies: [{ status: "ok" }, {}, {}, {}] } });
      expect(pids.size).toBe(1);
      expect(pids).not.toContain(pid);
    }
    expect({ lines, restarts }).toEqual({ lines: [], restarts: 0 });
    await host.stop();
    expect(await icmp.echo(ECHO, () => {})).toMatchObject({ status: "failed", reason: "icmp_process_lost" });
    expect(host.pid()).toBeNull();
  });

  it("that cannot start again is down as if it had died", async () => {
    const folder = mkdtempSync(join(tmpdir(), "icmp-"));
    const entry = join(folder, "starts-once.mjs");
    writeFileSync(
      entry,
      `import { existsSync, writeFileSync } from "node:fs";
      const before = new URL("started", import.meta.url);
      if (existsSync(before)) process.exit(1);
      writeFileSync(before, "");
      process.on("disconnect", () => process.exit(0));
      process.send({ kind: "ready", capabilities: { v4: true, v6: false, missing: [] } });`,
    );
    const lines: string[] = [];
    const backOffMs = { first: 10, longest: 40 };
    const log = (line: string) => lines.push(line);
    const host = startIcmpHost({ clock: systemClock, log, entry, backOffMs, sleepAfterMs: 10 });
    expect(await host.ready()).toMatchObject({ v4: true });
    await until(() => host.pid() === null, "the process sleeps");
    expect(host.capabilities()).toMatchObject({ v4: true });
    const run = createIcmp({ host, egress: loopbackEgress })(patient()).echo(ECHO, () => {});
    expect(await run).toMatchObject({ status: "failed", source: "probe", reason: "icmp_process_lost" });
    expect(host.capabilities()).toMatchObject({ v4: false });
    expect(lines.join("\n")).toMatch(/exit code 1.*restart in 10 ms/);
    await host.stop();
    rmSync(folder, { recursive: true });
  });
});

describe("an ICMP process that cannot live", () => {
  it("is started again, later each time, and its jobs fail at once", async () => {
    const folder = mkdtempSync(join(tmpdir(), "icmp-"));
    const entry = join(folder, "dies.mjs");
    writeFileSync(entry, "process.exit(1);");
    const lines: string[] = [];
    const backOffMs = { first: 10, longest: 40 };
    const host = startIcmpHost({ clock: systemClock, log: (line) => lines.push(line), entry, backOffMs });
    const waits = (): string[] => lines.flatMap((line) => /restart in (\d+) ms/.exec(line)?.[1] ?? []);
    expect(await host.ready()).toMatchObject({ v4: false, v6: false });
    await until(() => waits().length >= 4, "four restarts");
    expect(waits().slice(0, 4)).toEqual(["10", "20", "40", "40"]);
    const limits = patient();
    const lost = { status: "failed", source: "probe", reason: "icmp_process_lost" };
    const trace = createTrace({ host, egress: loopbackEgress, clock: systemClock })(limits);
    const request = { ip: "127.0.0.1", protocol: "icmp", maxHops: 3, queries: 1 } as const;
    expect(await createIcmp({ host, egress: loopbackEgress })(limits).echo(ECHO, () => {})).toMatchObject(lost);
    expect(await trace.run(request, () => {})).toMatchObject(lost);
    expect(await trace.pathMtu("127.0.0.1", 1_000)).toMatchObject(lost);
    await host.stop();
    rmSync(folder, { recursive: true });
  });
});
