import { setTimeout as sleep } from "node:timers/promises";
import { row, type Row } from "#test/bench/report.ts";
import type { Scene } from "#test/bench/watching/scene.ts";
import { PARTS, readUsage, type Usage } from "#test/bench/watching/usage.ts";

/** Checks of a span, from their rows. */
interface Checks {
  readonly count: number;
  readonly failed: number;
  readonly missed: number;
  readonly p50: number;
  readonly p99: number;
  readonly most: number;
}

/** Measures the watching as it goes on for some seconds. */
export async function measureSteady(scene: Scene, seconds: number): Promise<Row[]> {
  const begin = await databaseTime(scene);
  const before = await readUsage(scene);
  await sleep(seconds * 1_000);
  const after = await readUsage(scene);
  const checks = await readChecks(scene, begin, await databaseTime(scene));
  const took = (after.at - before.at) / 1_000;
  return [
    row("watching: checks recorded", checks.count / took, "checks/s"),
    row("watching: checks that found a fault", checks.failed, "checks", { atMost: 0 }),
    row("watching: planned checks that never ran", checks.missed, "checks", { atMost: 0 }),
    row("watching: schedule lag, p50", checks.p50, "ms"),
    row("watching: schedule lag, p99", checks.p99, "ms", { atMost: 1_000 }),
    row("watching: schedule lag, most", checks.most, "ms"),
    ...costOf(before, after, checks.count),
  ];
}

/** Makes every schedule entry due at once, and measures how fast the checks are then made. */
export async function measureHighest(scene: Scene, seconds: number): Promise<Row[]> {
  await scene.sql`update monitor_slots set due_at = now(), planned_at = now() where lease = 0`;
  const begin = await databaseTime(scene);
  const before = await readUsage(scene);
  const until = performance.now() + seconds * 1_000;
  for (;;) {
    await sleep(500);
    const [left] = await scene.sql<{ due: boolean }[]>`
      select exists (select from monitor_slots where due_at < ${begin}) as due`;
    if (left?.due !== true || performance.now() > until) break;
  }
  const after = await readUsage(scene);
  const { count } = await readChecks(scene, begin, await databaseTime(scene));
  return [
    row("watching: highest rate, all slots due at once", count / ((after.at - before.at) / 1_000), "checks/s"),
    ...costOf(before, after, count).filter(({ what }) => what.includes("CPU")),
  ];
}

function costOf(before: Usage, after: Usage, checks: number): Row[] {
  const spent = PARTS.map((part) => after.cpu[part] - before.cpu[part]);
  const whole = spent.reduce((sum, one) => sum + one, 0);
  return [
    ...PARTS.map((part, index) =>
      row(`watching: CPU of one check, ${part}`, ((spent[index] ?? NaN) / checks) * 1e6, "us"),
    ),
    row("watching: CPU of one check, together", (whole / checks) * 1e6, "us"),
    row("watching: checks per CPU-second", checks / whole, "checks", { atLeast: 700 }),
    row("watching: WAL of one check", (after.wal - before.wal) / checks, "bytes", { atMost: 2_048 }),
    row(
      "watching: page images in the WAL for 1,000 checks",
      ((after.pageImages - before.pageImages) / checks) * 1e3,
      "pages",
    ),
    row("watching: checkpoints meanwhile", after.checkpoints - before.checkpoints, ""),
  ];
}

/** Compares the memory of the product with and without its monitors. */
export function memoryRows(without: Usage, now: Usage, monitors: number): Row[] {
  const grown = PARTS.map((part) => ((now.memory[part] - without.memory[part]) * 1_024) / monitors);
  return [
    ...PARTS.map((part, index) => row(`watching: memory of one monitor (PSS), ${part}`, grown[index] ?? NaN, "KB")),
    row(
      "watching: memory of one monitor (PSS), together",
      grown.reduce((sum, one) => sum + one, 0),
      "KB",
      { atMost: 20 },
    ),
  ];
}

async function databaseTime({ sql }: Scene): Promise<Date> {
  const [time] = await sql<{ now: Date }[]>`select clock_timestamp() as now`;
  return time?.now ?? new Date(NaN);
}

/** Reads the checks that began in a span. */
async function readChecks({ sql }: Scene, from: Date, to: Date): Promise<Checks> {
  const [found] = await sql<Checks[]>`
    select count(*)::integer as count, count(*) filter (where status <> 1)::integer as failed,
      coalesce(sum(missed), 0)::integer as missed,
      coalesce(percentile_cont(0.5) within group (order by lag_ms), 0) as p50,
      coalesce(percentile_cont(0.99) within group (order by lag_ms), 0) as p99, coalesce(max(lag_ms), 0) as most
    from checks where checked_at >= ${from} and checked_at < ${to} and not is_recheck`;
  if (found === undefined) throw new Error("no answer");
  return found;
}
