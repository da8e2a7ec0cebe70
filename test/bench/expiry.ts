// node test/bench/expiry.ts [monitors] [hosts] [days]: what the watch over certificates and domains costs: https
// monitors of fewer hosts, whose domains half of them watch too, over simulated days. Prints handshakes and questions to
// registries a day, and exits with 1 if they are more than the targets. Not part of npm run bench.
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startCluster } from "#shared/client/up/postgres/cluster.ts";
import { migrate } from "#control-plane/core/migrations/migrate.ts";
import { holds, lineOf, row, type Row } from "#test/bench/report.ts";
import {
  DAY_MS,
  openExpiryWorld,
  registration,
  handshakeResult,
  fullResult,
} from "#test/control-plane/watching/expiry/world.ts";

const monitors = Number(process.argv[2] ?? 10_000);
const hosts = Number(process.argv[3] ?? 1_000);
const days = Number(process.argv[4] ?? 7);
const STEP_MS = 10 * 60_000;
const START = new Date("2026-01-01T00:00:00Z");

const folder = mkdtempSync(join(tmpdir(), "vantage-expiry-"));
// Under root the database runs as nobody, which must be able to enter.
chmodSync(folder, 0o711);
const started = await startCluster({ root: join(folder, "postgres") });
if (!started.ok) throw new Error(started.line);
const { cluster } = started;
const rows: Row[] = [];
try {
  await cluster.createDatabase("vantage");
  await migrate(cluster.url("vantage"));
  const database = { url: cluster.url("vantage"), drop: () => Promise.resolve() };
  const world = await openExpiryWorld(database, START);
  const certificate = { digit: "a", notBefore: START, notAfter: new Date(START.getTime() + 365 * DAY_MS) };
  world.answer((tool) =>
    fullResult(
      tool === "monitor-ssl" ? handshakeResult(certificate) : registration({ expires: "2028-01-01T00:00:00Z" }),
    ),
  );
  const replicas = [world.openReplica(), world.openReplica()];
  const all = Array.from({ length: monitors }, (_, index) => {
    return { url: `https://www.shop-${index % hosts}.example/page/${index}`, checkType: "http" } as const;
  });
  const half = Math.floor(monitors / 2);
  const ids = [
    ...(await world.addMonitors(all.slice(0, half), { watch_domain: true })),
    ...(await world.addMonitors(all.slice(half))),
  ];
  const count = (tool: string) => world.asked.filter((one) => one.startsWith(tool)).length;
  const round = () => Promise.all(replicas.map((replica) => replica.round()));
  const begun = performance.now();
  await round();
  console.log(`first looks: ${count("monitor-ssl")} handshakes, ${count("monitor-domain")} questions to registries`);
  for (let day = 1; day <= days; day += 1) {
    const before = { handshakes: count("monitor-ssl"), questions: count("monitor-domain") };
    for (let at = 0; at < DAY_MS; at += STEP_MS) {
      world.advance(STEP_MS);
      // Every monitor reports what its checks have seen.
      for (const id of ids) replicas[id % 2]?.note(id, "a".repeat(64));
      await round();
    }
    const handshakes = count("monitor-ssl") - before.handshakes;
    const questions = count("monitor-domain") - before.questions;
    console.log(`day ${day}: ${handshakes} handshakes, ${questions} questions to registries`);
  }
  const looks = (count("monitor-ssl") - hosts) / days;
  const questions = (count("monitor-domain") - hosts) / days;
  rows.push(row("handshakes a day", looks, "", { atMost: hosts * 1.2 }));
  rows.push(row("questions to registries a day", questions, "", { atMost: hosts * 1.2 }));
  rows.push(row("real time", (performance.now() - begun) / 1_000, "s", {}));
  await world.close();
} finally {
  await cluster.stop();
  rmSync(folder, { recursive: true, force: true });
}
for (const one of rows) console.log(lineOf(one));
if (!rows.every(holds)) process.exitCode = 1;
