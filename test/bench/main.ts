// npm run bench [-- SECTION...]: measurements of the whole product on loopback, each with its baseline of the same run. Not a test: it
// prints what it measured and exits with 1 if a limit was missed. Measurements that take longer or examine one part run
// alone: watching.ts (monitors that are checked every minute), claims.ts (their statements), agent-checks.ts (their
// checks in one agent), history.ts (a long history), dashboard.ts (pages for an account with 1,000 monitors).
import { setTimeout as sleep } from "node:timers/promises";
import { benchBatch } from "#test/bench/batch.ts";
import { benchCatalogue } from "#test/bench/catalogue.ts";
import { benchBlackbox } from "#test/bench/blackbox.ts";
import { benchChecks } from "#test/bench/checks.ts";
import { benchExporter } from "#test/bench/exporter.ts";
import { benchDeadlines } from "#test/bench/deadlines.ts";
import { benchEchoes } from "#test/bench/echoes.ts";
import { benchFleet } from "#test/bench/fleet.ts";
import { benchGrowth } from "#test/bench/growth.ts";
import { benchCommand, benchIdle } from "#test/bench/idle.ts";
import { benchHealth } from "#test/bench/health.ts";
import { benchMcp } from "#test/bench/mcp.ts";
import { benchOpen } from "#test/bench/open.ts";
import { benchPages } from "#test/bench/pages.ts";
import { benchPing } from "#test/bench/ping.ts";
import { makeFolder, readPssMb, startProduct } from "#test/bench/product.ts";
import { benchSizes } from "#test/bench/sizes.ts";
import { holds, lineOf, row, type Row } from "#test/bench/report.ts";

const IDLE_MS = 60_000;
const rows: Row[] = [];
const say = (...figures: Row[]): void => {
  for (const figure of figures) {
    rows.push(figure);
    console.log(lineOf(figure));
  }
};

/** What runs when it is named, or all in this order. */
const SECTIONS: Readonly<Record<string, () => Promise<void>>> = {
  async exporter() {
    say(...(await benchExporter(folder)));
  },
  async start() {
    const first = await startProduct(folder);
    say(row("start to ready, first start", first.startMs / 1000, "s", { atMost: 10 }));
    await first.stop();
    let again = Infinity;
    for (let round = 0; round < 3; round += 1) {
      const product = await startProduct(folder);
      again = Math.min(again, product.startMs);
      await product.stop();
    }
    say(row("start to ready, again (best of three)", again / 1000, "s", { atMost: 3 }));
  },
  async idle() {
    const { folder: own, remove } = makeFolder();
    const product = await startProduct(own);
    say(...(await benchIdle(product)));
    await product.stop();
    remove();
  },
  async command() {
    say(...benchCommand());
  },
  async product() {
    const { folder: own, remove } = makeFolder();
    const product = await startProduct(own);
    await sleep(IDLE_MS);
    const memory = (part: "controlPlane" | "agent") => readPssMb(product.processes[part]);
    say(row("memory of the control plane 60 s after ready (PSS)", memory("controlPlane"), "MB", { atMost: 220 }));
    say(row("memory of the agent 60 s after ready (PSS)", memory("agent"), "MB", { atMost: 130 }));
    say(...(await benchPages(product)));
    const catalogue = await benchCatalogue(product);
    say(...catalogue);
    say(...(await benchChecks(product, catalogue[0]?.value ?? 0)));
    say(...(await benchBlackbox(product)));
    say(...(await benchOpen(product)));
    say(...(await benchMcp(product)));
    say(...(await benchSizes(product)));
    say(...(await benchBatch(product)));
    say(...(await benchHealth(product)));
    say(...(await benchPing(product)));
    say(...(await benchDeadlines(product)));
    await product.stop();
    remove();
  },
  async scrapes() {
    const { folder: own, remove } = makeFolder();
    const product = await startProduct(own);
    say(...(await benchBlackbox(product)));
    await product.stop();
    remove();
  },
  async echoes() {
    say(...(await benchEchoes()));
  },
  async fleet() {
    say(...(await benchFleet({ calmSeconds: 60, chaosSeconds: 300 })));
  },
  async growth() {
    await benchGrowth(say);
  },
};

const { folder, remove } = makeFolder();
const named = process.argv.slice(2);
const unknown = named.filter((name) => !Object.hasOwn(SECTIONS, name));
if (unknown.length > 0) throw new Error(`${unknown.join(", ")}: the sections are ${Object.keys(SECTIONS).join(", ")}`);
// Scrapes are a part of the product.
const wanted = named.length > 0 ? named : Object.keys(SECTIONS).filter((name) => name !== "scrapes");
try {
  for (const name of wanted) await SECTIONS[name]?.();
} finally {
  remove();
}
if (!rows.every(holds)) process.exitCode = 1;
