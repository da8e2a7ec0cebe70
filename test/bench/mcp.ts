import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startBareRoute } from "#test/bench/bare.ts";
import { runLoad } from "#test/bench/load.ts";
import type { Product } from "#test/bench/product.ts";
import { row, type Row } from "#test/bench/report.ts";
import { startHttpServer } from "#test/servers/http.ts";

const ROUNDS = 3;

/**
 * Measures the agent endpoint: tool lists per second compared with a bare route, and the cost of a call compared with
 * REST.
 */
export async function benchMcp(product: Product): Promise<Row[]> {
  const site = await startHttpServer();
  const url = `${site.url}/bytes/2`;
  const headers = { authorization: `Bearer ${product.key}`, "content-type": "application/json" };
  const message = (method: string, params: object) => JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const list = { port: product.port, path: "/mcp", headers, body: message("tools/list", {}) };
  const call = { ...list, body: message("tools/call", { name: "check_headers", arguments: { url } }) };
  const rest = {
    port: product.port,
    path: `/api/v4/check?url=${encodeURIComponent(url)}`,
    headers: { "x-api-key": product.key },
  };
  const answer = await fetch(`http://127.0.0.1:${product.port}/mcp`, { method: "POST", headers, body: list.body });
  const file = join(product.folder, "list.json");
  writeFileSync(file, await answer.text());
  const bare = await startBareRoute(file, "application/json; charset=utf-8");
  let bareRate = 0;
  let rate = 0;
  const byMcp: number[] = [];
  const byRest: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    bareRate = Math.max(bareRate, (await runLoad({ port: bare.port, path: "/" })).rate);
    const lists = await runLoad(list);
    if (Object.keys(lists.statuses).some((status) => status !== "200")) throw new Error(JSON.stringify(lists.statuses));
    rate = Math.max(rate, lists.rate);
    byRest.push((await runLoad({ ...rest, connections: 1, seconds: 2 })).p50);
    byMcp.push((await runLoad({ ...call, connections: 1, seconds: 2 })).p50);
  }
  bare.stop();
  await site.close();
  const [mcp, api] = [Math.min(...byMcp), Math.min(...byRest)];
  return [
    row("bare Fastify route, the list's bytes", bareRate, "requests/s"),
    row("tools/list", rate, "requests/s", { atLeast: 2_000 }),
    row("check by REST, p50 (best of three)", api, "ms"),
    row("check by tools/call, p50 (best of three)", mcp, "ms"),
    row("tools/call beyond the dispatch that REST pays too", mcp - api, "ms", { atMost: 1 }),
  ];
}
