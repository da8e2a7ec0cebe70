// A rush of visitors on one status page with 10 monitors: the page and its summary as JSON, from memory, beside a bare
// Fastify route with the same bytes and the same load. Visitors have many addresses, because each has 60 requests per
// minute. Not part of npm run bench: `node test/bench/status-pages.ts` prints what it measured and exits with 1 if a
// limit was missed.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startBareRoute } from "#test/bench/bare.ts";
import { runLoad } from "#test/bench/load.ts";
import { makeFolder, startProduct, type Product } from "#test/bench/product.ts";
import { holds, lineOf, row, type Row } from "#test/bench/report.ts";
import { startHttpServer } from "#test/servers/http.ts";

const MONITORS = 10;
const ROUNDS = 3;
/** Visitors per second that a replica must serve. */
const RUSH = 5_000;
/** A visitor leaves before its limit. */
const PER_ADDRESS = 50;
/** More addresses than one run can use, so that no run meets the limits of an earlier one. */
const ADDRESSES_A_RUN = 20_000;

let runs = 0;

/** Calls the API with the key of the product. */
async function call({ port, key }: Product, path: string, body: object): Promise<{ readonly id: number }> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return ((await answer.json()) as { data: { id: number } }).data;
}

/** Creates a page with monitors of a site that is up, and waits until the page says so. */
async function createPage(product: Product, siteUrl: string): Promise<string> {
  const monitors: { readonly id: number; readonly name: string }[] = [];
  for (let index = 1; index <= MONITORS; index += 1) {
    const name = `Service ${index}`;
    const { id } = await call(product, "/api/v4/monitors", { name, url: `${siteUrl}/status/200`, interval_minutes: 1 });
    monitors.push({ id, name });
  }
  await call(product, "/api/v4/status", { title: "Bench", slug: "bench", monitors });
  for (let waited = 0; waited < 60; waited += 1) {
    const answer = await fetch(`http://127.0.0.1:${product.port}/status/bench/summary.json`);
    const { status } = (await answer.json()) as { status: { indicator: string } };
    if (status.indicator === "none") return "/status/bench";
    await sleep(2_000);
  }
  throw new Error("the page does not become operational");
}

/** Measures one form of the page, beside a bare route with the same bytes. The best of three rounds each. */
async function measure(product: Product, what: string, path: string, coding: string): Promise<Row[]> {
  const headers = { "accept-encoding": coding };
  const whole = await fetch(`http://127.0.0.1:${product.port}${path}`, { headers: { "accept-encoding": "identity" } });
  const file = join(product.folder, "status-page");
  writeFileSync(file, Buffer.from(await whole.arrayBuffer()));
  const bare = await startBareRoute(file, whole.headers.get("content-type") ?? "");
  let best = { rate: 0, p99: Infinity };
  let bareRate = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const load = () => ({ headers, perAddress: PER_ADDRESS, firstAddress: (runs += 1) * ADDRESSES_A_RUN });
    bareRate = Math.max(bareRate, (await runLoad({ port: bare.port, path: "/", ...load() })).rate);
    const report = await runLoad({ port: product.port, path, ...load() });
    if (Object.keys(report.statuses).join() !== "200") throw new Error(JSON.stringify(report.statuses));
    if (report.rate > best.rate) best = report;
  }
  bare.stop();
  return [
    row(`${what}, bare Fastify route, same bytes`, bareRate, "requests/s"),
    row(`${what}, ${coding}`, best.rate, "requests/s", { atLeast: RUSH }),
    row(`${what}, ${coding}, 99th percentile`, best.p99, "ms"),
    row(`${what}, ${coding}, of the bare route`, (best.rate / bareRate) * 100, "%"),
  ];
}

const { folder, remove } = makeFolder();
const rows: Row[] = [];
try {
  const product = await startProduct(folder);
  const site = await startHttpServer();
  const page = await createPage(product, site.url);
  for (const [what, path] of [
    ["status page", page],
    ["its summary", `${page}/summary.json`],
    ["its JSON in the API", "/api/v4/status.php?slug=bench"],
  ] as const) {
    for (const coding of ["identity", "br"]) {
      for (const figure of await measure(product, what, path, coding)) {
        rows.push(figure);
        console.log(lineOf(figure));
      }
    }
  }
  await site.close();
  await product.stop();
} finally {
  remove();
}
if (!rows.every(holds)) process.exitCode = 1;
