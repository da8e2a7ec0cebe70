import { execFileSync, spawnSync } from "node:child_process";
import type { Product } from "#test/bench/product.ts";
import { median, row, type Row } from "#test/bench/report.ts";

const ROUNDS = 5;

/** Compares round-trip times on loopback with iputils' ping (Debian: iputils-ping), in turn. */
export async function benchPing(product: Product): Promise<Row[]> {
  if (spawnSync("ping", ["-V"]).status !== 0) {
    console.log("skipped: ping of iputils is not installed");
    return [];
  }
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const output = execFileSync("ping", ["-n", "-c", "10", "-i", "0.2", "127.0.0.1"], { encoding: "utf8" });
    theirs.push(...Array.from(output.matchAll(/time=([\d.]+) ms/g), ([, rtt]) => Number(rtt)));
    const response = await fetch(
      `http://127.0.0.1:${product.port}/api/v4/ping?host=127.0.0.1&count=10&interval_ms=200`,
      {
        headers: { "x-api-key": product.key },
      },
    );
    const { data } = (await response.json()) as { data: { method: string; replies: { rtt_ms: number | null }[] } };
    if (data.method !== "icmp") {
      console.log("skipped: this agent has no raw sockets, so its ping is TCP");
      return [];
    }
    ours.push(...data.replies.flatMap(({ rtt_ms: rtt }) => (rtt === null ? [] : [rtt])));
  }
  return [
    row("RTT on loopback by iputils ping, p50", median(theirs), "ms"),
    row("RTT on loopback by Vantage, p50", median(ours), "ms"),
    row("RTT: difference, p50", Math.abs(median(ours) - median(theirs)), "ms", { atMost: 0.05 }),
  ];
}
