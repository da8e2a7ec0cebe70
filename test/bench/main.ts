// npm run bench: measurements of the whole product on loopback, each with its baseline of the same run. Not a test: it
// prints what it measured and exits with 1 if a limit was missed. Measurements that take longer or examine one part run
// alone: watching.ts (monitors that are checked every minute), claims.ts (their statements), agent-checks.ts (their
// checks in one agent), history.ts (a long history), dashboard.ts (pages for an account with 1,000 monitors).
import { setTimeout as sleep } from "node:timers/promises";
import { benchBatch } from "#test/bench/batch.ts";
import { benchCatalogue } from "#test/bench/catalogue.ts";
import { benchBlackbox } from "#test/bench/blackbox.ts";
import { benchChecks } from "#test/bench/checks.ts";
import { benchDeadlines } from "#test/bench/deadlines.ts";
import { benchEchoes } from "#test/bench/echoes.ts";
import { benchFleet } from "#test/bench/fleet.ts";
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

const { folder, remove } = makeFolder();
try {
  const first = await startProduct(folder);
  say(row("start to ready, first start", first.startMs / 1000, "s", { atMost: 10 }));
  await first.stop();
  let again = Infinity;
  for (let round = 0; round < 3; round += 1) {
    const product = await startProduct(folder, first.key);
    again = Math.min(again, product.startMs);
    await product.stop();
  }
  say(row("start to ready, again (best of three)", again / 1000, "s", { atMost: 3 }));

  const product = await startProduct(folder, first.key);
  await sleep(IDLE_MS);
  say(
    row("memory of the control plane 60 s after ready (PSS)", readPssMb(product.processes.controlPlane), "MB", {
      atMost: 220,
    }),
  );
  say(row("memory of the agent 60 s after ready (PSS)", readPssMb(product.processes.agent), "MB", { atMost: 130 }));
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
  say(...(await benchEchoes()));
  say(...(await benchFleet({ calmSeconds: 60, chaosSeconds: 300 })));
} finally {
  remove();
}
if (!rows.every(holds)) process.exitCode = 1;
