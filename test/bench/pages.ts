import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { writePages } from "#test/bench/page-corpus.ts";
import type { Product } from "#test/bench/product.ts";
import { quantile, row, type Row } from "#test/bench/report.ts";

const PAGES = 720;
const IN_FLIGHT = 5;
/** Every tool that reads a page's HTML. */
const TOOLS = ["seo-audit", "schema", "og-preview", "ai-check", "tech-detect", "cms", "mixed-content", "security"];
const SAMPLE_MS = 50;
const MEGABYTE = 1024 * 1024;

/**
 * Measures the agent's resident memory while every tool that reads HTML checks each of 720 pages, five calls at a time.
 */
export async function benchPages({ port, key, processes }: Product): Promise<Row[]> {
  const pages = writePages(PAGES);
  let fronts = 0;
  const site = createServer((request, response) => {
    const number = /^\/page\/(\d+)$/.exec(request.url ?? "")?.[1];
    // A tool that takes a site instead of a page reads its front page, which is another one each time.
    const page = pages[request.url === "/" ? fronts++ % PAGES : Number(number ?? Number.NaN)];
    response.writeHead(page === undefined ? 404 : 200, { "content-type": "text/html; charset=utf-8" }).end(page ?? "");
  }).listen(0, "127.0.0.1");
  await once(site, "listening");
  const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;

  const samples: number[] = [];
  const sampling = setInterval(() => samples.push(readResidentMb(processes.agent)), SAMPLE_MS);
  const calls = pages.flatMap((_, number) => TOOLS.map((tool) => ({ tool, url: `${origin}/page/${number}` })));
  const queue = calls.values();
  const statuses: Record<string, number> = {};
  const startedAt = performance.now();
  const work = async (): Promise<void> => {
    for (const { tool, url } of queue) {
      const target = tool === "ai-check" ? `domain=${encodeURIComponent(origin)}` : `url=${encodeURIComponent(url)}`;
      const path = `/api/v4/${tool}?${target}`;
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { "x-api-key": key } });
      await answer.arrayBuffer();
      statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, work));
  const seconds = (performance.now() - startedAt) / 1000;
  clearInterval(sampling);
  site.close();
  if (Object.keys(statuses).join() !== "200") throw new Error(JSON.stringify(statuses));

  const sizes = pages.map((page) => Buffer.byteLength(page) / MEGABYTE);
  return [
    row(`${PAGES} pages, median size`, quantile(sizes, 0.5), "MB"),
    row(`${PAGES} pages, 99th percentile of size`, quantile(sizes, 0.99), "MB"),
    row(`${PAGES} pages by ${TOOLS.length} tools`, calls.length / seconds, "calls/s"),
    row(`memory of the agent over ${PAGES} pages, ${IN_FLIGHT} in flight, median (RSS)`, quantile(samples, 0.5), "MB"),
    row(`memory of the agent over ${PAGES} pages, ${IN_FLIGHT} in flight, most (RSS)`, Math.max(...samples), "MB", {
      atMost: 400,
    }),
  ];
}

/** Returns the resident set size of a process in MB (proc(5)). */
function readResidentMb(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}
