import type { Product } from "#test/bench/product.ts";
import { median, row, type Row } from "#test/bench/report.ts";
import { startHttpServer } from "#test/servers/http.ts";
import { createPki } from "#test/servers/pki.ts";
import { identityOf } from "#test/support/http-engine.ts";

const SAMPLES = 15;

/** Compares the health tool on a loopback site with the tools it consists of, each called through the API. */
export async function benchHealth({ port, key }: Product): Promise<Row[]> {
  const pki = await createPki();
  const leaf = await pki.issue({ dns: ["localhost"] });
  const site = await startHttpServer({ tls: identityOf(leaf, pki.intermediate), h2: true });
  const parts: Readonly<Record<string, (sample: number) => string>> = {
    check: (sample) => `check?url=${encodeURIComponent(`${site.url}/?${sample}`)}`,
    ssl: () => `ssl?host=127.0.0.1&port=${site.port}`,
    robots: () => `robots?domain=${encodeURIComponent(site.url)}`,
    security: (sample) => `security?url=${encodeURIComponent(`${site.url}/?${sample}`)}`,
  };
  const took = async (path: string): Promise<number> => {
    const startedAt = performance.now();
    const answer = await fetch(`http://127.0.0.1:${port}/api/v4/${path}`, { headers: { "x-api-key": key } });
    await answer.text();
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status}`);
    return performance.now() - startedAt;
  };
  const times = new Map<string, number[]>();
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    const health = `health?url=${encodeURIComponent(`${site.url}/?health-${sample}`)}`;
    for (const [name, path] of [
      ...Object.entries(parts).map(([one, make]) => [one, make(sample)]),
      ["health", health],
    ]) {
      times.set(name ?? "", [...(times.get(name ?? "") ?? []), await took(path ?? "")]);
    }
  }
  await site.close();
  const medians = Array.from(times, ([name, values]) => [name, median(values)] as const);
  const slowest = Math.max(...medians.filter(([name]) => name !== "health").map(([, value]) => value));
  const health = medians.find(([name]) => name === "health")?.[1] ?? 0;
  return [
    ...medians.map(([name, value]) => row(`${name} of a loopback site, median`, value, "ms")),
    row("health beside the slowest of its parts", health / slowest, "times", { atMost: 1.3 }),
  ];
}
