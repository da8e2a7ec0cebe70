// node test/bench/visual.ts: how long a check of a visual monitor takes, from the request to run it until it is recorded:
// control plane, database and agent in processes of their own, Chromium as the agent starts it, the picture compared and
// stored. In the same run, in pairs, a bare playwright script that takes a picture of the same page, and for comparison
// `chromium --headless --screenshot`, which waits for nothing after the load; the agent waits until the network is idle.
// The page is on loopback. Prints the medians and exits with 1 if a check takes more than 1.5 times as long as the script.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { findChromium, searchPathOf } from "#shared/process/chromium.ts";
import { holds, lineOf, median, row } from "#test/bench/report.ts";
import { openScene } from "#test/bench/watching/scene.ts";

const ROUNDS = 15;
/** Rounds before, which are not counted: caches of files and of compiled code fill. */
const WARM_UP = 2;
const MOST_RATIO = 1.5;
/** A check that is not recorded after this time has failed, milliseconds. */
const MOST_MS = 60_000;
const LOOK_EVERY_MS = 5;
const VIEWPORT = { width: 1_280, height: 800 };

const executable = findChromium(process.env["VANTAGE_CHROMIUM"] ?? null, searchPathOf(process.env["PATH"]));
if (executable === null) {
  console.log("skipped: no Chromium on PATH and none named by VANTAGE_CHROMIUM");
  process.exit(0);
}

/** The heading of the page; another one is a change. */
let heading = "Shop";
const paragraphs = Array.from({ length: 60 }, (_, n) => `<p>Paragraph ${n} with <b>some</b> text.</p>`).join("");
const pageNow = (): string =>
  `<!doctype html><title>Shop</title><link rel=stylesheet href=/a.css><h1>${heading}</h1>${paragraphs}<script src=/a.js></script>`;

const site = createServer((request, response) => {
  const type = request.url === "/a.css" ? "text/css" : request.url === "/a.js" ? "text/javascript" : "text/html";
  const body =
    type === "text/css" ? "h1 { color: teal }" : type === "text/javascript" ? "document.title = 'x'" : pageNow();
  response.writeHead(200, { "content-type": type }).end(body);
}).listen(0, "127.0.0.1");
await once(site, "listening");
const url = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`;
const folder = mkdtempSync(join(tmpdir(), "vantage-bench-visual-"));
const script = join(folder, "bare.mjs");
const isRoot = process.getuid?.() === 0;
writeFileSync(
  script,
  `import { chromium } from ${JSON.stringify(import.meta.resolve("playwright-core"))};
const browser = await chromium.launch({ executablePath: ${JSON.stringify(executable)}, chromiumSandbox: ${!isRoot} });
const page = await browser.newPage({ viewport: ${JSON.stringify(VIEWPORT)} });
await page.goto(${JSON.stringify(url)}, { waitUntil: "load" });
await page.screenshot({ path: ${JSON.stringify(join(folder, "bare.png"))} });
await browser.close();`,
);

async function run(command: string, args: readonly string[]): Promise<void> {
  const child = spawn(command, args, { stdio: "ignore" });
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0) throw new Error(`${command} ended with ${code}`);
}

const flags = [
  "--headless",
  "--disable-gpu",
  "--hide-scrollbars",
  `--window-size=${VIEWPORT.width},${VIEWPORT.height}`,
  ...(isRoot ? ["--no-sandbox"] : []),
  `--user-data-dir=${join(folder, "profile")}`,
  `--screenshot=${join(folder, "a.png")}`,
];

const scene = await openScene({ locations: 1, agentSettings: { VANTAGE_CHROMIUM: executable } });
try {
  const { plane, sql, key } = scene;
  const body = { url, check_type: "visual", interval_minutes: 60, visual: { viewport: VIEWPORT } };
  const made = await plane.call("/api/v4/monitors", { key, body });
  if (made.status !== 201) throw new Error(made.text);
  const { id } = made.body.data as { readonly id: number };

  /** Returns the time of the newest recorded check, Unix milliseconds; 0: none. */
  async function newest(): Promise<number> {
    const [slot] = await sql<{ checkedAt: Date | null }[]>`
      select checked_at as "checkedAt" from monitor_slots where monitor_id = ${id} and lease = 0`;
    return slot?.checkedAt?.getTime() ?? 0;
  }

  /** Waits until a check is recorded that is newer than this one. */
  async function untilNewer(than: number): Promise<void> {
    for (const end = performance.now() + MOST_MS; performance.now() < end; await sleep(LOOK_EVERY_MS)) {
      if ((await newest()) > than) return;
    }
    throw new Error("a check was not recorded");
  }

  async function check(): Promise<void> {
    const before = await newest();
    const { status, text } = await plane.call(`/api/v4/monitors?action=run&id=${id}`, { key, method: "POST" });
    if (status !== 200 && status !== 202) throw new Error(text);
    await untilNewer(before);
  }

  /** Returns how much the newest picture differs from the accepted one; null if a check had no picture. */
  async function difference(): Promise<number | null> {
    const { data } = (await plane.call(`/api/v4/monitors?id=${id}`, { key })).body;
    const { status, visual } = data as { status: string; visual: { latest: { ratio: number } | null } };
    return status === "up" ? (visual.latest?.ratio ?? null) : null;
  }

  await untilNewer(0);
  let changes = 0;
  const ways = {
    script: () => run(process.execPath, [script]),
    check,
    changed: check,
    chromium: () => run(executable, [...flags, url]),
  };
  const times: Record<keyof typeof ways, number[]> = { script: [], check: [], changed: [], chromium: [] };
  for (let round = -WARM_UP; round < ROUNDS; round += 1) {
    // Script and check alternate in being the first of a pair.
    const pair = round % 2 === 0 ? (["script", "check"] as const) : (["check", "script"] as const);
    for (const way of [...pair, "changed", "chromium"] as const) {
      rmSync(join(folder, "profile"), { recursive: true, force: true });
      changes += 1;
      heading = way === "changed" ? `<span style="background:red">Sale ${changes}</span>` : "Shop";
      const startedAt = performance.now();
      await ways[way]();
      if (round >= 0) times[way].push(performance.now() - startedAt);
      if (way !== "check" && way !== "changed") continue;
      const ratio = await difference();
      if (ratio === null || ratio > 0 !== (way === "changed")) throw new Error(`the picture of a check shows ${ratio}`);
    }
  }
  const middle = {
    script: median(times.script),
    check: median(times.check),
    changed: median(times.changed),
    chromium: median(times.chromium),
  };
  const rows = [
    row("picture by chromium --headless --screenshot", middle.chromium, "ms"),
    row("picture by a bare playwright script", middle.script, "ms"),
    row("visual check until it is recorded", middle.check, "ms"),
    row("visual check of a changed page, compared", middle.changed, "ms"),
    row("visual check / chromium", middle.check / middle.chromium, ""),
    row("changed page / playwright script", middle.changed / middle.script, ""),
    row("visual check / playwright script", middle.check / middle.script, "", { atMost: MOST_RATIO }),
  ];
  for (const one of rows) console.log(lineOf(one));
  if (!rows.every(holds)) process.exitCode = 1;
} finally {
  await scene.end();
  site.close();
  rmSync(folder, { recursive: true, force: true });
}
