// The watching of monitors with real processes on one machine: control plane, one agent for each location and the
// embedded PostgreSQL as the product starts it, which check a small web server over plain HTTP every minute. Not part of
// npm run bench: `node test/bench/watching.ts --monitors 60000 --seconds 120` prints what it measured and exits with 1
// if a limit was missed.
//
//   --locations 3    each monitor is checked from three locations; a rate counts the checks of all of them
//   --history ROWS   fills the history of the monitors with so many checks first, and with 90 days of roll-ups
//   --highest S      makes all checks due at once at the end, for at most S seconds: the highest rate
//   --reads S        reads single monitors through the API for S seconds
//   --profile DIR    writes CPU profiles of the control plane and the agents
//
// Memory of one monitor is the growth of the proportional set size of all processes from the start without monitors to
// the end of the measurement. It includes the buffers of PostgreSQL and the heaps of Node, which grow up to fixed sizes.
import { writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { startBareRoute } from "#test/bench/bare.ts";
import { fillHistory } from "#test/bench/history/fill.ts";
import { runLoad } from "#test/bench/load.ts";
import { holds, lineOf, row, type Row } from "#test/bench/report.ts";
import { measureHighest, measureSteady, memoryRows } from "#test/bench/watching/measure.ts";
import { createMonitors, waitForFirstChecks } from "#test/bench/watching/monitors.ts";
import { measureReads } from "#test/bench/watching/reads.ts";
import { openScene } from "#test/bench/watching/scene.ts";
import { readUsage } from "#test/bench/watching/usage.ts";

const { values } = parseArgs({
  options: {
    monitors: { type: "string", default: "60000" },
    seconds: { type: "string", default: "120" },
    "warm-up": { type: "string", default: "30" },
    locations: { type: "string", default: "1" },
    history: { type: "string", default: "0" },
    highest: { type: "string", default: "0" },
    reads: { type: "string", default: "0" },
    profile: { type: "string" },
  },
});
const monitors = Number(values.monitors);
const locations = Number(values.locations);
const rows: Row[] = [];
const say = (...figures: Row[]): void => {
  for (const figure of figures) {
    rows.push(figure);
    console.log(lineOf(figure));
  }
};

/** Measures the present maximum of the machine: a bare route that sends a small body. */
async function benchBare(): Promise<Row> {
  const file = join(tmpdir(), `vantage-bare-${process.pid}.json`);
  writeFileSync(file, '{"status":"ok"}');
  const bare = await startBareRoute(file);
  const { rate } = await runLoad({ port: bare.port, path: "/" });
  bare.stop();
  return row("watching: bare Fastify route of this run", rate, "requests/s");
}

const scene = await openScene({ locations, profile: values.profile });
try {
  say(row("watching: load average before", loadavg()[0] ?? 0, ""), await benchBare());
  const without = await readUsage(scene);
  const createdAt = performance.now();
  await createMonitors(scene, monitors);
  say(row("watching: time to create the monitors", (performance.now() - createdAt) / 1_000, "s"));
  if (Number(values.history) > 0) await fillHistory(scene.sql, { now: Date.now(), rows: Number(values.history) });
  await waitForFirstChecks(scene);
  say(row("watching: time until all were checked once", (performance.now() - createdAt) / 1_000, "s"));
  await sleep(Number(values["warm-up"]) * 1_000);
  const planned = (monitors * locations) / 60;
  say(row("watching: checks planned", planned, "checks/s"));
  say(...(await measureSteady(scene, Number(values.seconds))));
  say(...memoryRows(without, await readUsage(scene), monitors));
  if (Number(values.reads) > 0) say(...(await measureReads(scene, Number(values.reads))));
  if (Number(values.highest) > 0) say(...(await measureHighest(scene, Number(values.highest))));
  say(await benchBare(), row("watching: load average after", loadavg()[0] ?? 0, ""));
} finally {
  await scene.end();
}
if (!rows.every(holds)) process.exitCode = 1;
