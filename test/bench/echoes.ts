import { setTimeout as sleep } from "node:timers/promises";
import { createEgress } from "#shared/internet/egress.ts";
import { createIcmp } from "#probe-agent/net/icmp.ts";
import { startIcmpHost } from "#probe-agent/net/icmp/host.ts";
import type { EchoRequest } from "#probe-agent/port/packets.ts";
import { quantile, row, type Row } from "#test/bench/report.ts";

const JOBS = 5_000;
const ECHOES = 10;
const INTERVAL_MS = 1_000;
/** Jobs start evenly over one interval. From then on 5,000 echo requests are sent in every second. */
const SPREAD_MS = INTERVAL_MS;
const BLOCK = 5;

/** Measures echoes to loopback through one agent's ICMP process: 5,000 a second, concurrently, for ten seconds. */
export async function benchEchoes(): Promise<Row[]> {
  const clock = { now: () => new Date(), monotonic: () => performance.now() };
  const host = startIcmpHost({ clock, log: (line) => console.log(line) });
  const { v4 } = await host.ready();
  if (!v4) {
    console.log("skipped: raw sockets need CAP_NET_RAW");
    await host.stop();
    return [];
  }
  const egress = createEgress({ targets: ["127.0.0.0/8"], names: [] });
  const limits = { signal: new AbortController().signal, deadline: clock.monotonic() + 60_000, now: clock.now };
  const icmp = createIcmp({ host, egress })(limits);
  const rtts: number[] = [];
  const errors: number[] = [];
  let lost = 0;
  const run = async (request: EchoRequest): Promise<void> => {
    const outcome = await icmp.echo(request, () => {});
    if (outcome.status !== "ok") throw new Error(JSON.stringify(outcome));
    errors.push(outcome.data.clockErrorMs);
    for (const { status, rttMs } of outcome.data.replies) {
      if (status === "ok" && rttMs !== null) rtts.push(rttMs);
      else lost += 1;
    }
  };
  const startedAt = clock.monotonic();
  const jobs: Promise<void>[] = [];
  for (let job = 0; job < JOBS; job += 1) {
    const due = startedAt + (job / JOBS) * SPREAD_MS;
    if (job % BLOCK === 0) await sleep(Math.max(0, due - clock.monotonic()));
    const ip = `127.${1 + (job % 200)}.${job % 250}.1`;
    const request = { ip, count: ECHOES, intervalMs: INTERVAL_MS, size: 56, ttl: 64, timeoutMs: 1_000 };
    jobs.push(run(request));
  }
  await Promise.all(jobs);
  const seconds = (clock.monotonic() - startedAt) / 1_000;
  await host.stop();
  return [
    row("echoes on loopback through one agent", (JOBS * ECHOES) / seconds, "echoes/s"),
    row("echoes not answered in order", lost, "echoes", { atMost: 0 }),
    row("echoes: RTT, p50", quantile(rtts, 0.5), "ms"),
    row("echoes: RTT, p99", quantile(rtts, 0.99), "ms"),
    row("echoes: clock_error_ms, p99 of jobs", quantile(errors, 0.99), "ms"),
  ];
}
