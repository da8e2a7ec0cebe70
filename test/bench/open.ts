import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startBareRoute } from "#test/bench/bare.ts";
import { runLoad } from "#test/bench/load.ts";
import type { Product } from "#test/bench/product.ts";
import { row, type Row } from "#test/bench/report.ts";
import { startHttpServer } from "#test/servers/http.ts";

/** Compares a cached answer of the open tier with a bare Fastify text route with the same bytes. Best of three. */
export async function benchOpen(product: Product): Promise<Row[]> {
  const site = await startHttpServer();
  const path = `/api/open/http-status?q=${encodeURIComponent(`${site.url}/status/200`)}`;
  const answer = await fetch(`http://127.0.0.1:${product.port}${path}`);
  if (answer.status !== 200) throw new Error(`the open tier answered ${answer.status}`);
  const file = join(product.folder, "open.txt");
  writeFileSync(file, await answer.text());
  const bare = await startBareRoute(file, "text/plain; charset=utf-8");
  let bareRate = 0;
  let rate = 0;
  for (let round = 0; round < 3; round += 1) {
    bareRate = Math.max(bareRate, (await runLoad({ port: bare.port, path: "/" })).rate);
    const report = await runLoad({ port: product.port, path });
    const bad = Object.keys(report.statuses).filter((status) => status !== "200");
    if (bad.length > 0) throw new Error(`the open tier answered ${bad.join(", ")}`);
    rate = Math.max(rate, report.rate);
  }
  bare.stop();
  const asked = site.requests.length;
  await site.close();
  return [
    row("bare Fastify text route, same bytes", bareRate, "requests/s"),
    row("open tier, answer at hand", rate, "requests/s"),
    row("open tier, answer at hand, of the bare route", (rate / bareRate) * 100, "%", { atLeast: 50 }),
    row("requests that reached the target meanwhile", asked, "requests", { atMost: 2 }),
  ];
}
