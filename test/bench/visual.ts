// node test/bench/visual.ts: how long an agent's picture of a page takes, compared with two baselines of the same run:
// `chromium --headless --screenshot`, and a bare playwright script, each in a process of its own. Chromium itself waits for
// nothing after the load, the agent until the network is idle. The page is on
// loopback. Prints the medians and exits with 1 if the agent takes more than 1.5 times as long as the script.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findChromium, searchPathOf } from "#shared/process/chromium.ts";
import { createEgress } from "#shared/egress.ts";
import { createBrowser } from "#probe-agent/net/browser.ts";
import { createDns } from "#probe-agent/net/dns/create.ts";
import { holds, lineOf, median, row } from "#test/bench/report.ts";

const ROUNDS = 11;
const PAGE = `<!doctype html><title>Shop</title><link rel=stylesheet href=/a.css><h1>Shop</h1>
${Array.from({ length: 60 }, (_, n) => `<p>Paragraph ${n} with <b>some</b> text.</p>`).join("")}<script src=/a.js></script>`;

const executable = findChromium(process.env["VANTAGE_CHROMIUM"] ?? null, searchPathOf(process.env["PATH"]));
if (executable === null) {
  console.log("skipped: no Chromium on PATH and none named by VANTAGE_CHROMIUM");
  process.exit(0);
}

const site = createServer((request, response) => {
  const type = request.url === "/a.css" ? "text/css" : request.url === "/a.js" ? "text/javascript" : "text/html";
  const body = type === "text/css" ? "h1 { color: teal }" : type === "text/javascript" ? "document.title = 'x'" : PAGE;
  response.writeHead(200, { "content-type": type }).end(body);
}).listen(0, "127.0.0.1");
await once(site, "listening");
const url = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`;
const folder = mkdtempSync(join(tmpdir(), "vantage-bench-visual-"));
const bare = join(folder, "bare.mjs");
const isRoot = process.getuid?.() === 0;
writeFileSync(
  bare,
  `import { chromium } from ${JSON.stringify(import.meta.resolve("playwright-core"))};
const browser = await chromium.launch({ executablePath: ${JSON.stringify(executable)}, chromiumSandbox: ${!isRoot} });
const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
await page.goto(${JSON.stringify(url)}, { waitUntil: "load" });
await page.screenshot({ path: ${JSON.stringify(join(folder, "bare.png"))} });
await browser.close();`,
);

async function run(command: string, args: readonly string[]): Promise<void> {
  const child = spawn(command, args, { stdio: "ignore" });
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0) throw new Error(`${command} ended with ${code}`);
}

const clock = { now: () => new Date(), monotonic: () => performance.now() };
const random = { bytes: (count: number) => new Uint8Array(count) };
const egress = createEgress({ targets: ["127.0.0.0/8"], names: [] });
const dnsFor = createDns({ servers: ["127.0.0.1:9"], egress, clock, random });
const browserFor = createBrowser({
  executable,
  clock,
  egress,
  userAgent: "Vantage/bench",
  log: (line) => console.log(line),
});

async function capture(): Promise<void> {
  const limits = { signal: AbortSignal.timeout(60_000), deadline: clock.monotonic() + 60_000, now: clock.now };
  const request = { url, width: 1_280, height: 800, fullPage: false, waitMs: 0, timeoutMs: 40_000 };
  const outcome = await browserFor(limits, dnsFor(limits)).capture(request);
  if (outcome.status !== "ok") throw new Error(JSON.stringify(outcome));
}

const flags = [
  "--headless",
  "--disable-gpu",
  "--hide-scrollbars",
  "--window-size=1280,800",
  ...(isRoot ? ["--no-sandbox"] : []),
];
const ways = {
  agent: capture,
  chromium: () =>
    run(executable, [
      ...flags,
      `--user-data-dir=${join(folder, "profile")}`,
      `--screenshot=${join(folder, "a.png")}`,
      url,
    ]),
  playwright: () => run(process.execPath, [bare]),
};
const times: Record<keyof typeof ways, number[]> = { agent: [], chromium: [], playwright: [] };
for (let round = 0; round < ROUNDS; round += 1) {
  for (const [way, take] of Object.entries(ways) as [keyof typeof ways, () => Promise<void>][]) {
    if (way === "chromium") rmSync(join(folder, "profile"), { recursive: true, force: true });
    const startedAt = performance.now();
    await take();
    times[way].push(performance.now() - startedAt);
  }
}
site.close();
rmSync(folder, { recursive: true, force: true });
const middle = { agent: median(times.agent), chromium: median(times.chromium), playwright: median(times.playwright) };
const rows = [
  row("picture by chromium --headless --screenshot", middle.chromium, "ms"),
  row("picture by a bare playwright script", middle.playwright, "ms"),
  row("picture by an agent", middle.agent, "ms"),
  row("agent / chromium", middle.agent / middle.chromium, ""),
  row("agent / playwright", middle.agent / middle.playwright, "", { atMost: 1.5 }),
];
for (const one of rows) console.log(lineOf(one));
process.exit(rows.every(holds) ? 0 : 1);
