import { startHttpServer } from "#test/servers/http.ts";
import type { Product } from "#test/bench/product.ts";
import { quantile, row, type Row } from "#test/bench/report.ts";

const HOSTILE = [
  "/silent",
  "/drip?ms=50",
  "/drip-body?ms=50",
  "/endless-headers",
  "/endless-body",
  "/hints/forever",
  "/bomb/gzip",
  "/loop",
];
const TIMEOUT_S = 1;
const EACH = 15;

/**
 * Measures how late the answer about a hostile target is: check with a timeout of one second, several at the same time.
 */
export async function benchDeadlines(product: Product): Promise<Row[]> {
  const target = await startHttpServer();
  const late: number[] = [];
  const ask = async (path: string): Promise<void> => {
    const url = encodeURIComponent(`${target.url}${path}`);
    const startedAt = performance.now();
    const response = await fetch(`http://127.0.0.1:${product.port}/api/v4/check?timeout=${TIMEOUT_S}&url=${url}`, {
      headers: { "x-api-key": product.key },
    });
    await response.arrayBuffer();
    late.push(performance.now() - startedAt - TIMEOUT_S * 1000);
  };
  for (let round = 0; round < EACH; round += 1) await Promise.all(HOSTILE.map(ask));
  await target.close();
  return [row("answer about a hostile target after its deadline, p99", quantile(late, 0.99), "ms", { atMost: 250 })];
}
