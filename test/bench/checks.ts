import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { once } from "node:events";
import { createEgress } from "#shared/internet/egress.ts";
import { createHttp } from "#probe-agent/net/http.ts";
import { createDns } from "#probe-agent/net/dns/create.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { check } from "#probe-agent/tools/check/check.ts";
import { runLoad } from "#test/bench/load.ts";
import type { Product } from "#test/bench/product.ts";
import { median, row, type Row } from "#test/bench/report.ts";

const SAMPLES = 300;
const ROUNDS = 3;

/** Measures what API, gRPC and agent add to a check of a loopback target, and the number of checks per second. */
export async function benchChecks(product: Product, bareRate: number): Promise<Row[]> {
  const target = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/plain" }).end("ok");
  });
  target.listen(0, "127.0.0.1");
  await once(target, "listening");
  const address = target.address();
  const url = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}/`;
  const path = `/api/v4/check?url=${encodeURIComponent(url)}`;
  const headers = { "x-api-key": product.key };

  // In turn, so that both have the same noise of the machine. The generator needs little CPU time.
  const inProcess: number[] = [];
  const throughApi: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const samples: number[] = [];
    for (let index = 0; index < SAMPLES; index += 1) {
      const startedAt = performance.now();
      await runInProcess(url);
      samples.push(performance.now() - startedAt);
    }
    inProcess.push(median(samples));
    throughApi.push((await runLoad({ port: product.port, path, headers, connections: 1, seconds: 2 })).p50);
  }
  let rate = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const load = await runLoad({ port: product.port, path, headers, connections: 50 });
    if (Object.keys(load.statuses).some((status) => status !== "200")) throw new Error(JSON.stringify(load.statuses));
    rate = Math.max(rate, load.rate);
  }
  target.close();
  const own = Math.min(...inProcess);
  const through = Math.min(...throughApi);
  return [
    row("check in process, p50 (best of three)", own, "ms"),
    row("check through API, gRPC and agent, p50 (best of three)", through, "ms"),
    row("check: added by API, gRPC and agent, p50", through - own, "ms", { atMost: 2 }),
    row("checks at 50 in flight (bare route of this run beside it)", rate, "checks/s", { atLeast: 1_000 }),
    row("bare Fastify route of this run", bareRate, "requests/s"),
  ];
}

const clock = { now: () => new Date(), monotonic: () => performance.now() };
const random = { bytes: (count: number) => randomBytes(count) };
const egress = createEgress({ targets: ["127.0.0.0/8"], names: [] });
const httpFor = createHttp({ clock, egress, userAgent: "Vantage-bench" });
const dnsFor = createDns({ servers: [], egress, clock, random });

/** Runs the same implementation as the agent, with the same engine. */
async function runInProcess(url: string): Promise<void> {
  const abort = new AbortController();
  const limits = { signal: abort.signal, deadline: clock.monotonic() + 15_000, now: () => new Date() };
  const dns = dnsFor(limits);
  const net = {
    signal: limits.signal,
    remainingMs: () => limits.deadline - clock.monotonic(),
    now: limits.now,
    monotonic: clock.monotonic,
    random: random.bytes,
    emit: () => {},
    dns,
    http: httpFor(limits, dns),
  } as unknown as Net;
  const outcome = await check.run(net, { url, method: "GET", follow: true, timeout: 15 });
  if (outcome.status !== "ok") throw new Error(`check in process: ${outcome.status}`);
}
