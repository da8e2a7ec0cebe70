// Deliveries of webhooks with real processes on one machine: control plane, PostgreSQL and an HTTPS receiver. Not part of
// npm run bench: `node test/bench/deliveries.ts` prints what it measured and exits with 1 if a limit was missed. It needs
// the peers (`npm run test:peers` installs them).
//
//   --count 20000    deliveries of one measurement
//   --parts LIST     some of latency, rate, hanging, peers, crowded, creates; default: all
//   --profile DIR    writes CPU profiles of the control plane
import { execFile } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { startBareRoute } from "#test/bench/bare.ts";
import { measureCreates } from "#test/bench/deliveries/creates.ts";
import { measureLatency } from "#test/bench/deliveries/latency.ts";
import { insertBlocked, insertDeliveries, insertFor, measureRate } from "#test/bench/deliveries/queue.ts";
import { openScene } from "#test/bench/deliveries/scene.ts";
import { runLoad } from "#test/bench/load.ts";
import { holds, lineOf, row, type Row } from "#test/bench/report.ts";

const PEER = fileURLToPath(new URL("deliveries/peer.ts", import.meta.url));
const ROUNDS = 3;
const WAITING = 25_000;
const HANGING = 2_000;

const { values } = parseArgs({
  options: {
    count: { type: "string", default: "20000" },
    parts: { type: "string", default: "latency,rate,hanging,peers,crowded,creates" },
    profile: { type: "string" },
  },
});
const parts = new Set(values.parts.split(","));
const count = Number(values.count);
const rows: Row[] = [];
const say = (...figures: Row[]): void => {
  for (const figure of figures) {
    rows.push(figure);
    console.log(lineOf(figure));
  }
};
const scene = await openScene(50, values.profile);

async function measureBare(): Promise<void> {
  const file = join(tmpdir(), `vantage-bare-${process.pid}.json`);
  writeFileSync(file, '{"status":"ok"}');
  const bare = await startBareRoute(file);
  const { rate } = await runLoad({ port: bare.port, path: "/" });
  say(row("deliveries: bare Fastify route of this run", rate, "requests/s"));
  bare.stop();
}

/** Returns the best rate of some rounds, each with deliveries of its own. */
async function measureBest(name: string): Promise<number> {
  let best = 0;
  for (let round = 1; round <= ROUNDS; round += 1) {
    const prefix = `${name}-${round}-`;
    await insertDeliveries(scene, { count, prefix, delaySeconds: 3_600 });
    await scene.sql`update deliveries set is_ready = true, due_at = now() where event_id like ${`evt_${prefix}%`}`;
    const rate = await measureRate(scene, prefix);
    say(row(`deliveries: ${name}, run ${round}`, rate, "deliveries/s"));
    best = Math.max(best, rate);
  }
  return best;
}

/** Measures the rate of the others while one receiver with thousands of deliveries accepts connections and says nothing. */
async function measureBesideHanging(): Promise<number> {
  const hanging = createServer(() => {});
  hanging.listen(0, "127.0.0.1");
  await once(hanging, "listening");
  const { port } = hanging.address() as AddressInfo;
  await insertFor(scene, `https://127.0.0.1:${port}/`, HANGING);
  const rate = await measureBest("hanging");
  const latency = await measureLatency(scene, 200, 10);
  say(row("deliveries: from commit to request beside a hanging receiver, p50", latency.p50, "ms"));
  hanging.close();
  return rate;
}

/** Measures the same sender on the queue of others, while the control plane has nothing to do. */
async function measurePeer(kind: string): Promise<number> {
  let best = 0;
  for (let round = 1; round <= ROUNDS; round += 1) {
    const prefix = `${kind}-${round}-`;
    await insertDeliveries(scene, { count, prefix, delaySeconds: 36_000 });
    const words = [PEER, kind, scene.databaseUrl, String(count), prefix, String(scene.accountId)];
    const env = { ...process.env, ...scene.trust };
    const { stdout } = await promisify(execFile)(process.execPath, words, { env, timeout: 400_000 });
    const rate = Number(stdout.trim());
    say(row(`deliveries: the same sender on ${kind}, run ${round}`, rate, "deliveries/s"));
    best = Math.max(best, rate);
    await scene.sql`delete from deliveries where event_id like ${`evt_${prefix}%`}`;
  }
  return best;
}

async function reportLatency(): Promise<void> {
  const latency = await measureLatency(scene, 200, 20);
  say(
    row("deliveries: from commit to request at 200/s, p50", latency.p50, "ms", { atMost: 20 }),
    row("deliveries: from commit to request at 200/s, p99", latency.p99, "ms", { atMost: 250 }),
  );
}

async function reportCreates(): Promise<void> {
  const creates = await measureCreates(scene, 500, 20);
  say(
    row("webhooks: idempotent creations", creates.rate, "requests/s"),
    row("webhooks: idempotent creation at 500/s, p50", creates.p50, "ms"),
    row("webhooks: idempotent creation at 500/s, p99", creates.p99, "ms", { atMost: 30 }),
    row("webhooks: answers other than 201", creates.others, "answers", { atMost: 0 }),
  );
}

try {
  say(row("deliveries: load average before", loadavg()[0] ?? 0, ""));
  await measureBare();
  if (parts.has("latency")) await reportLatency();
  const best = parts.has("rate") ? await measureBest("alone") : Number.NaN;
  if (parts.has("rate")) say(row("deliveries: best of three", best, "deliveries/s", { atLeast: 1_000 }));
  if (parts.has("hanging")) {
    const beside = await measureBesideHanging();
    say(row("deliveries: rate beside a hanging receiver", (beside / best) * 100, "%", { atLeast: 90 }));
  }
  for (const kind of parts.has("peers") ? ["pg-boss", "graphile-worker"] : []) {
    const peer = await measurePeer(kind);
    say(row(`deliveries: rate, as a multiple of that on ${kind}`, best / peer, "times", { atLeast: 1 }));
  }
  if (parts.has("crowded")) {
    await insertDeliveries(scene, { count: WAITING, prefix: "later-", delaySeconds: 7_200 });
    await insertBlocked(scene, WAITING);
    const crowded = await measureBest("crowded");
    say(row("deliveries: rate with 50,000 waiting", (crowded / best) * 100, "%", { atLeast: 90 }));
  }
  if (parts.has("creates")) await reportCreates();
  await measureBare();
} finally {
  await scene.end();
}
if (!rows.every(holds)) process.exitCode = 1;
