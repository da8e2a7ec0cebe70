import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildChain, whyNoChain, type Chain } from "#test/lab/chain.ts";
import { pingFrom } from "#test/lab/from.ts";
import { hasRawSockets } from "#test/support/raw-sockets.ts";

const why = whyNoChain() ?? ((await hasRawSockets()) ? null : "skipped: raw sockets need CAP_NET_RAW");
if (why !== null) console.warn(why);

const [OPEN, CLOSED, DROPPED, REJECTED, FORBIDDEN, RESET] = [2_000, 2_001, 2_002, 2_003, 2_004, 2_005];
const LISTEN = `const s = require("node:net").createServer((c) => c.destroy()).listen(${OPEN}, "::", () => console.log("up"));`;

describe.skipIf(why !== null)("the TCP ports of a firewalled host", () => {
  let chain: Chain;
  let listener: ChildProcess | undefined;
  let target4 = "";
  let target6 = "";

  beforeAll(async () => {
    chain = buildChain(1, { limited: false });
    target4 = chain.hops4.at(-1) ?? "";
    target6 = chain.hops6.at(-1) ?? "";
    const command = ["netns", "exec", chain.nodes[2] ?? "", process.execPath, "-e", LISTEN];
    listener = spawn("ip", command, { stdio: ["ignore", "pipe", "inherit"] });
    if (listener.stdout !== null) await once(listener.stdout, "data");
    chain.run(2, "nft", "add table inet t; add chain inet t i { type filter hook input priority 0; }");
    chain.run(2, "nft", `add rule inet t i tcp dport { ${DROPPED}, 3000-3019 } drop`);
    chain.run(2, "nft", `add rule inet t i tcp dport ${REJECTED} reject`);
    chain.run(2, "nft", `add rule inet t i tcp dport ${FORBIDDEN} reject with icmpx admin-prohibited`);
    chain.run(2, "nft", `add rule inet t i tcp dport ${RESET} reject with tcp reset`);
  });
  afterAll(() => {
    listener?.kill("SIGKILL");
    chain?.close();
  });

  it.each([4, 6])("are open, closed or filtered, each with its reason, IPv%d", async (version) => {
    const ports = [OPEN, CLOSED, RESET, REJECTED, FORBIDDEN, DROPPED].join(",");
    const host = version === 4 ? target4 : target6;
    const result = await pingFrom(chain, { host, action: "ports", ports });
    expect(result.ports?.map(({ port, state, reason }) => [port, state, reason])).toEqual([
      [OPEN, "open", null],
      [CLOSED, "closed", null],
      [RESET, "closed", null],
      [REJECTED, "filtered", "port_unreachable"],
      [FORBIDDEN, "filtered", "admin_prohibited"],
      [DROPPED, "filtered", "timeout"],
    ]);
    expect(result.ports?.map(({ rtt_ms: rtt }) => rtt !== null)).toEqual([true, true, true, false, false, false]);
  });

  it("are probed at the same time: each of twenty silent ones has all its tries before the deadline", async () => {
    const ports = Array.from({ length: 20 }, (_, index) => 3_000 + index).join(",");
    const result = await pingFrom(chain, { host: target4, action: "ports", ports });
    expect(result.ports?.every(({ state }) => state === "filtered")).toBe(true);
    expect(result.ports).toHaveLength(20);
    // Four tries of 900 ms. One port after the other, the deadline of the job would leave most of them none.
    expect(result.ports?.every(({ tries }) => tries === 4)).toBe(true);
  });

  it("answer a TCP ping by a handshake or a reset, not by an ICMP error", async () => {
    const rowsOf = async (port: number, host = target4) => {
      const result = await pingFrom(chain, { host, port, protocol: "tcp", count: 2, interval_ms: 100 });
      return [result.packets_received, ...(result.replies ?? []).map(({ status }) => status)];
    };
    expect(await rowsOf(OPEN)).toEqual([2, "ok", "ok"]);
    expect(await rowsOf(RESET, target6)).toEqual([2, "ok", "ok"]);
    expect(await rowsOf(FORBIDDEN)).toEqual([0, "unreachable", "unreachable"]);
    expect(await rowsOf(DROPPED, target6)).toEqual([0, "timeout", "timeout"]);
  });

  it("are traced by SYNs that leave no connection half open", async () => {
    for (const host of [target4, target6]) {
      const trace = await pingFrom(chain, { host, action: "traceroute", protocol: "tcp", port: OPEN, queries: 5 });
      expect(trace).toMatchObject({ reached: true, hops: [{ hop: 1 }, { hop: 2, loss_percent: 0 }] });
      for (const state of ["syn-recv", "established"]) {
        expect(chain.run(2, "ss", "-Htan", "state", state, `sport = :${OPEN}`)).toBe("");
      }
    }
  });

  it("are traced by SYNs although the target itself rejects them", async () => {
    const trace = await pingFrom(chain, { host: target4, action: "traceroute", protocol: "tcp", port: REJECTED });
    expect(trace).toMatchObject({ reached: true, unreachable: null });
    expect(trace.hops?.at(-1)?.replies[0]).toMatchObject({ ip: target4, icmp_type: 3, icmp_code: 3 });
  });
});
