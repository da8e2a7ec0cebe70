import { execFile } from "node:child_process";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import type { Product } from "#test/bench/product.ts";
import { row, type Row } from "#test/bench/report.ts";
import { startHttpServer } from "#test/servers/http.ts";

const URLS = 100;
const ROUNDS = 3;
/** Response time of the sites in milliseconds: a round trip within the continent. */
const SITE_MS = 100;

/** Compares a batch of 100 loopback URLs with `curl --parallel` over the same URLs. Best of three each, in turn. */
export async function benchBatch(product: Product): Promise<Row[]> {
  const site = await startHttpServer({
    handler: (_request, response) => {
      setTimeout(() => response.end("ok\n"), SITE_MS);
      return true;
    },
  });
  const urls = Array.from({ length: URLS }, (_, at) => `${site.url}/page/${at}`);
  let batch = Infinity;
  let curl = Infinity;
  for (let round = 0; round < ROUNDS; round += 1) {
    curl = Math.min(curl, await runCurl(urls));
    batch = Math.min(batch, await runBatch(product, urls));
  }
  await site.close();
  return [
    row(`curl --parallel, ${URLS} URLs of ${SITE_MS} ms (best of three)`, curl, "ms"),
    row(`batch of the same URLs, submitted to completed (best of three)`, batch, "ms"),
    row("batch beside curl", batch / curl, "times", { atMost: 1.5 }),
  ];
}

async function runCurl(urls: readonly string[]): Promise<number> {
  const startedAt = performance.now();
  await promisify(execFile)("curl", ["-s", "--parallel", ...urls.flatMap((url) => ["-o", "/dev/null", url])]);
  return performance.now() - startedAt;
}

async function runBatch({ port, key }: Product, urls: readonly string[]): Promise<number> {
  const headers = { "x-api-key": key, "content-type": "application/json" };
  const base = `http://127.0.0.1:${port}`;
  const startedAt = performance.now();
  const made = await fetch(`${base}/api/v4/batch`, { method: "POST", headers, body: JSON.stringify({ urls }) });
  const { data } = (await made.json()) as { data: { poll_url: string } };
  for (;;) {
    const polled = await fetch(`${base}${data.poll_url}&per_page=1`, { headers });
    const { data: job } = (await polled.json()) as { data: { status: string; failed: number } };
    if (job.status === "completed" && job.failed === 0) return performance.now() - startedAt;
    if (job.status !== "pending" && job.status !== "running") throw new Error(`the batch ${job.status}: ${job.failed}`);
    await wait(10);
  }
}
