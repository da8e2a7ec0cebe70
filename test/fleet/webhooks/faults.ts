import { setTimeout as sleep } from "node:timers/promises";
import { insertBacklog } from "#test/fleet/webhooks/backlog.ts";
import type { Fault } from "#test/fleet/webhooks/records.ts";
import type { World } from "#test/fleet/webhooks/world.ts";
import { below } from "#test/fleet/random.ts";
import { findFaketime } from "#test/support/faketime.ts";

/** Events of one round: so many heartbeats change their status. */
const BURST = 6;
const MOST_WAIT_MS = 2_000;
const AWAY_MS = 3_000;
/** An outage of the database as long as the promises allow for. */
const LONG_AWAY_MS = 30_000;
const BACKLOG = 10_000;

/** One way to disturb deliveries, while or after events are published. */
type Disturb = (world: World) => Promise<void>;

/** Every fault by name. */
export const FAULTS: Readonly<Record<string, Disturb>> = {
  "kill before send": async (world) => {
    await world.account.changeStatuses(BURST);
    await killAndStart(world, all(world));
  },
  "kill during send": async (world) => {
    const arrival = world.receivers.nextArrival();
    const published = world.account.changeStatuses(BURST);
    await atMost(arrival);
    await killAndStart(world, all(world));
    await published;
  },
  "kill after send": async (world) => {
    const answer = world.receivers.nextAnswer();
    const published = world.account.changeStatuses(BURST);
    await atMost(answer);
    await killAndStart(world, all(world));
    await published;
  },
  "kill one replica": async (world) => {
    const published = world.account.changeStatuses(BURST);
    await sleep(world.dice() * 300);
    await killAndStart(world, [below(world.dice, world.replicas.count)]);
    await published;
  },
  "end all connections": async (world) => {
    const published = world.account.changeStatuses(BURST);
    for (let time = 0; time < 3; time += 1) {
      await sleep(world.dice() * 300);
      await disturb(world, "database", "end all connections", async () => {
        await world.sql`
          select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`;
      });
    }
    await published;
  },
  "crash of the database": async (world) => {
    const published = world.account.changeStatuses(BURST);
    await sleep(world.dice() * 300);
    await disturb(world, "database", "crash of the database", () => world.crashDatabase());
    await published;
  },
  "outage of the database": (world) => loseDatabase(world, AWAY_MS),
  "long outage of the database": (world) => loseDatabase(world, LONG_AWAY_MS),
  "clock of a replica 10 minutes off": async (world) => {
    const library = findFaketime();
    if (library === undefined) throw new Error("libfaketime is not installed (Debian: libfaketime)");
    const offset = world.dice() < 0.5 ? "+10m" : "-10m";
    const settings = { LD_PRELOAD: library, FAKETIME: offset, FAKETIME_DONT_FAKE_MONOTONIC: "1" };
    const published = world.account.changeStatuses(BURST);
    await killAndStart(world, [below(world.dice, world.replicas.count)], settings);
    await published;
  },
  "subscription deleted": (world) => meanwhile(world, (name) => world.account.recreate(name)),
  "subscription inactive": (world) =>
    meanwhile(world, async (name) => {
      await world.account.setActive(name, false);
      await world.account.changeStatuses(BURST);
      await world.account.setActive(name, true);
    }),
  "secret replaced": (world) => meanwhile(world, (name) => world.account.rotate(name)),
  "plan lowered": (world) => meanwhile(world, () => world.account.lowerPlan()),
  "overdue deliveries at the start": async (world) => {
    await disturb(world, "process", "overdue deliveries at the start", async () => {
      await world.replicas.kill(all(world));
      await insertBacklog(world.sql, BACKLOG);
      await world.replicas.start(all(world));
    });
    await world.account.changeStatuses(BURST);
  },
};

function all({ replicas }: World): readonly number[] {
  return Array.from({ length: replicas.count }, (_, number) => number);
}

async function killAndStart(
  world: World,
  numbers: readonly number[],
  settings: Readonly<Record<string, string>> = {},
): Promise<void> {
  const name = `${numbers.length} of ${world.replicas.count} replicas killed`;
  await disturb(world, "process", name, async () => {
    await world.replicas.kill(numbers);
    await world.replicas.start(numbers, settings);
  });
}

async function loseDatabase(world: World, ms: number): Promise<void> {
  const published = world.account.changeStatuses(BURST);
  await sleep(world.dice() * 300);
  await disturb(world, "database", `database away for ${ms / 1_000} s`, async () => {
    if (world.dice() < 0.5) world.proxy.stall();
    else world.proxy.cut();
    await sleep(ms);
    world.proxy.resume();
  });
  await published;
}

/** Publishes events, and changes one subscription while they are sent. */
async function meanwhile(world: World, change: (name: string) => Promise<void>): Promise<void> {
  await world.account.changeStatuses(BURST);
  const names = world.account.names();
  await change(names[below(world.dice, names.length)] ?? "");
  // A receiver that answered 410 gets events again.
  await world.account.setActive("gone", true);
}

async function disturb(world: World, kind: Fault["kind"], name: string, work: () => Promise<void>): Promise<void> {
  const from = Date.now();
  await work();
  world.faults.push({ kind, name, from, to: Date.now() });
}

async function atMost(event: Promise<void>): Promise<void> {
  await Promise.race([event, sleep(MOST_WAIT_MS)]);
}
