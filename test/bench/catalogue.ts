import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startBareRoute } from "#test/bench/bare.ts";
import { runLoad } from "#test/bench/load.ts";
import type { Product } from "#test/bench/product.ts";
import { row, type Row } from "#test/bench/report.ts";

/**
 * Compares GET /api/v4/tools with a key with a bare Fastify route that sends the same bytes. Best of three each, in
 * turn.
 */
export async function benchCatalogue(product: Product): Promise<Row[]> {
  const headers = { "x-api-key": product.key };
  const answer = await fetch(`http://127.0.0.1:${product.port}/api/v4/tools`, { headers });
  const file = join(product.folder, "tools.json");
  writeFileSync(file, await answer.text());
  const bare = await startBareRoute(file);
  let bareRate = 0;
  let rate = 0;
  for (let round = 0; round < 3; round += 1) {
    bareRate = Math.max(bareRate, (await runLoad({ port: bare.port, path: "/" })).rate);
    const report = await runLoad({ port: product.port, path: "/api/v4/tools", headers });
    const bad = Object.keys(report.statuses).filter((status) => status !== "200");
    if (bad.length > 0) throw new Error(`GET /api/v4/tools answered ${bad.join(", ")}`);
    rate = Math.max(rate, report.rate);
  }
  bare.stop();
  return [
    row("bare Fastify route, same bytes", bareRate, "requests/s"),
    row("keyed GET /api/v4/tools", rate, "requests/s"),
    row("keyed GET /api/v4/tools of the bare route", (rate / bareRate) * 100, "%", { atLeast: 40 }),
  ];
}
