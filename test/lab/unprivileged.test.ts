import { execFile, spawnSync } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildChain, whyNoChain, type Chain } from "#test/lab/chain.ts";
import { pingFrom } from "#test/lab/from.ts";
import { ROOT } from "#test/laws/source-files.ts";

const run = promisify(execFile);
const NOBODY = ["--reuid=65534", "--regid=65534", "--clear-groups"];
/** An unprivileged user with the one capability that raw sockets need. */
const AS_NOBODY = ["setpriv", ...NOBODY, "--inh-caps=-all,+net_raw", "--ambient-caps=-all,+net_raw"];
const ENTRY = `${ROOT}/probe-agent/net/icmp/main.ts`;

const readable = spawnSync("setpriv", [...NOBODY, process.execPath, "-e", `require("fs").accessSync("${ENTRY}")`]);
const why =
  whyNoChain() ?? (readable.status === 0 ? null : "skipped: needs setpriv and a tree that the user nobody can read");
if (why !== null) console.warn(why);

describe.skipIf(why !== null)("an agent as an unprivileged user with only CAP_NET_RAW", () => {
  let chain: Chain;
  beforeAll(() => {
    chain = buildChain(2, { limited: false });
  });
  afterAll(() => chain?.close());

  it("has that capability and no other", async () => {
    const [command = "", ...args] = AS_NOBODY;
    const { stdout } = await run(command, [...args, "cat", "/proc/self/status"]);
    expect(/^CapEff:\s+(\w+)$/m.exec(stdout)?.[1]).toBe("0000000000002000");
    expect(/^Uid:\s+(\d+)/m.exec(stdout)?.[1]).toBe("65534");
  });

  it("passes the ICMP process's own test; without the capability it reports what is missing", async () => {
    const [command = "", ...args] = AS_NOBODY;
    const { stdout } = await run(command, [...args, process.execPath, ENTRY, "--self-test"]);
    expect(JSON.parse(stdout)).toMatchObject({ icmp4: true, icmp6: true, missing: [] });
    const bare = await run("setpriv", [...NOBODY, process.execPath, ENTRY, "--self-test"]);
    const { icmp4, missing } = JSON.parse(bare.stdout) as { icmp4: boolean; missing: string[] };
    expect([icmp4, missing.join()]).toEqual([false, expect.stringContaining("CAP_NET_RAW")]);
  });

  it("pings, traces with every protocol and measures the path's MTU, in both families", async () => {
    for (const [host, hops] of [
      [chain.hops4.at(-1), chain.hops4],
      [chain.hops6.at(-1), chain.hops6],
    ] as const) {
      const echoes = await pingFrom(chain, { host, count: 3, interval_ms: 100 }, AS_NOBODY);
      expect(echoes).toMatchObject({ method: "icmp", packets_received: 3 });
      for (const protocol of ["icmp", "udp", "tcp"]) {
        const trace = await pingFrom(chain, { host, action: "traceroute", protocol, queries: 1 }, AS_NOBODY);
        expect(trace.hops?.map(({ replies }) => replies[0]?.ip)).toEqual(hops);
        expect(trace.path_mtu).toMatchObject({ bytes: 1_500, method: "interface" });
      }
    }
  });
});
