import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { buildChain, whyNoChain, type Chain } from "#test/lab/chain.ts";
import type { Way } from "#test/lab/echo-responder.ts";
import { pingFrom } from "#test/lab/from.ts";
import { ROOT } from "#test/laws/source-files.ts";
import { hasRawSockets } from "#test/support/raw-sockets.ts";

const why = whyNoChain() ?? ((await hasRawSockets()) ? null : "skipped: raw sockets need CAP_NET_RAW");
if (why !== null) console.warn(why);

describe.skipIf(why !== null)("echo requests to a host with irregular replies", () => {
  let chain: Chain;
  let responder: ChildProcess | undefined;
  beforeAll(() => {
    chain = buildChain(1, { limited: false });
    chain.run(2, "sysctl", "-qw", "net.ipv4.icmp_echo_ignore_all=1", "net.ipv6.icmp.echo_ignore_all=1");
  });
  afterEach(() => responder?.kill("SIGKILL"));
  afterAll(() => chain?.close());

  const answerBy = async (version: 4 | 6, ways: Readonly<Record<number, Way>>): Promise<void> => {
    const script = `${ROOT}/test/lab/echo-responder.ts`;
    const command = [
      "netns",
      "exec",
      chain.nodes[2] ?? "",
      process.execPath,
      script,
      JSON.stringify({ version, ways }),
    ];
    responder = spawn("ip", command, { stdio: ["ignore", "pipe", "inherit"] });
    if (responder.stdout !== null) await once(responder.stdout, "data");
  };
  const hostOf = (version: 4 | 6): string => (version === 4 ? chain.hops4 : chain.hops6).at(-1) ?? "";

  it.each([4, 6] as const)("are each reported correctly, without extra or missing ones, IPv%d", async (version) => {
    await answerBy(version, {
      2: { do: "twice" },
      3: { do: "change" },
      4: { do: "drop" },
      5: { do: "delay", ms: 1_300 },
      6: { do: "damage" },
    });
    const result = await pingFrom(chain, { host: hostOf(version), count: 8, interval_ms: 150 });
    const rows = (result.replies ?? []).map(({ seq, status }) => `${seq} ${status}`);
    expect(rows.toSorted()).toEqual(
      ["1 ok", "2 duplicate", "2 ok", "3 corrupt", "4 timeout", "5 late", "6 corrupt", "7 ok", "8 ok"].toSorted(),
    );
    expect(result).toMatchObject({ packets_sent: 8, packets_received: 5, packet_loss_percent: 37.5 });
    expect(result.rtt?.max_ms).toBeGreaterThan(1_299);
    expect(result.clock_error_ms).toBeGreaterThanOrEqual(0);
  });

  it("are lost exactly where every third is dropped", async () => {
    await answerBy(4, { 3: { do: "drop" }, 6: { do: "drop" }, 9: { do: "drop" } });
    const result = await pingFrom(chain, { host: hostOf(4), count: 9, interval_ms: 100 });
    expect(result).toMatchObject({ packets_sent: 9, packets_received: 6, packet_loss_percent: 33.333 });
    expect(result.replies?.filter(({ status }) => status === "timeout").map(({ seq }) => seq)).toEqual([3, 6, 9]);
  });

  it.each([4, 6] as const)("get their replies among thousands of meaningless packets, IPv%d", async (version) => {
    const sprays = Object.fromEntries([1, 2, 3].map((seq) => [seq, { do: "spray", packets: 2_000 }] as const));
    await answerBy(version, sprays);
    const result = await pingFrom(chain, { host: hostOf(version), count: 4, interval_ms: 500 });
    expect(result).toMatchObject({ packets_received: 4, packet_loss_percent: 0 });
    expect(result.replies?.map(({ seq }) => seq).toSorted()).toEqual([1, 2, 3, 4]);
  });

  it("are on time if the path is slow but steady", async () => {
    const slow = Object.fromEntries([1, 2, 3].map((seq) => [seq, { do: "delay", ms: 700 }] as const));
    await answerBy(4, slow);
    const result = await pingFrom(chain, { host: hostOf(4), count: 3, interval_ms: 100 });
    expect(result.replies?.map(({ status }) => status)).toEqual(["ok", "ok", "ok"]);
    expect(result.rtt?.min_ms).toBeGreaterThan(699);
  });
});
