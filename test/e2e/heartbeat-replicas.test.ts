import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { createManualClock } from "#test/support/clock.ts";
import { findingsOf } from "#test/support/heartbeats/history.ts";
import { keepAllPings, readHistory } from "#test/support/heartbeats/record-history.ts";
import { sendPing } from "#test/support/heartbeats/send-ping.ts";
import { createDice } from "#test/fleet/random.ts";
import { createMonitor } from "#test/support/create-monitor.ts";
import { advanceAlive } from "#test/support/heartbeats/liveness.ts";

const SEED = 20_261_123;
const HEARTBEATS = 24;
const ROUNDS = 120;
const KINDS = ["", "", "", "", "/0", "/fail", "/3", "/log", "/start"];
const clock = createManualClock(new Date("2026-03-01T12:00:00.000Z"));

interface Made {
  readonly id: number;
  readonly path: string;
}

let replicas: readonly TestControlPlane[] = [];
let first: TestControlPlane;
let key: string;

beforeAll(async () => {
  first = await startControlPlane({ overrides: { clock } });
  const second = await startControlPlane({ overrides: { clock }, databaseUrl: first.databaseUrl });
  replicas = [first, second];
  key = await first.createKey("captain");
  await keepAllPings(first.app.sql);
});

afterAll(async () => {
  for (const replica of replicas.toReversed()) await replica.stop();
});

async function create(heartbeat: object): Promise<Made> {
  const { id, heartbeat_url: url } = await createMonitor(first, key, { check_type: "heartbeat", heartbeat });
  return { id, path: new URL(url).pathname };
}

const advance = (ms: number) => advanceAlive(first.app.sql, clock, ms);

/** Counts the heartbeats that are late and not swept yet, or whose status does not follow their pings yet. */
async function countUnswept(): Promise<number | undefined> {
  const [row] = await first.app.sql<{ count: number }[]>`
    select count(*)::integer as count from heartbeats
    where sweep_at <= ${clock.now()} or verdict_number > judged_number`;
  return row?.count;
}

describe("two replicas that receive pings of the same heartbeats while both look for late ones", () => {
  it("record every ping once and in an order, and every change with one event and one incident", async () => {
    const dice = createDice(SEED);
    const pick = (count: number) => Math.floor(dice() * count);
    const made: Made[] = [];
    for (let n = 0; n < HEARTBEATS; n += 1) made.push(await create({ period_seconds: 30, grace_seconds: 1 + (n % 4) }));
    const answered = new Map(made.map(({ id }) => [id, [] as string[]] as const));
    const others: number[] = [];
    const sendings: Promise<void>[] = [];
    let sent = 0;
    const send = async ({ id, path }: Made, replica: number, kind: string): Promise<void> => {
      sent += 1;
      const rid = `r${sent}`;
      const { status } = await sendPing(replicas[replica]?.url ?? "", `${path}${kind}?rid=${rid}`, { from: sent });
      if (status === 200) answered.get(id)?.push(rid);
      else others.push(status);
    };
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const one of made) {
        const chance = dice();
        if (chance > 0.35) continue;
        const kind = KINDS[pick(KINDS.length)] ?? "";
        sendings.push(send(one, pick(2), kind));
        // The same heartbeat at the other replica, in the same millisecond.
        if (chance < 0.12)
          for (const replica of [0, 1]) sendings.push(send(one, replica, KINDS[pick(KINDS.length)] ?? ""));
      }
      // A part of the pings is on its way while the deadlines pass.
      if (round % 3 === 0) await Promise.all(sendings.splice(0));
      await advance(200 + pick(3_800));
      await sleep(pick(60));
    }
    await Promise.all(sendings);
    // Long enough for whatever is late now. Once it is swept, a later sweep finds nothing more.
    for (const ms of [12_000, 5_000]) {
      await advance(ms);
      await expect.poll(countUnswept).toBe(0);
    }
    expect(others).toEqual([]);

    const totals = { pings: 0, changes: 0, late: 0, events: 0 };
    for (const { id } of made) {
      const history = { ...(await readHistory(first.app.sql, id)), answered: answered.get(id) ?? [] };
      expect(findingsOf(history), `heartbeat ${id}`).toEqual([]);
      expect(history.pings).toHaveLength(history.answered.length);
      totals.pings += history.pings.length;
      totals.changes += history.changes.length;
      totals.events += history.events.length;
      const { body } = await first.call(`/api/v4/incidents?monitor_id=${id}&per_page=100`, { key });
      const causes = (body.data as readonly { readonly cause: { readonly code: string } }[]).map(
        ({ cause }) => cause.code,
      );
      totals.late += causes.filter((code) => code === "heartbeat_late" || code === "heartbeat_unfinished").length;
    }
    console.log(`${totals.pings} pings, ${totals.changes} changes, ${totals.late} late, ${totals.events} events`);
    // Everything that the rules are about has happened.
    expect(totals.pings).toBeGreaterThan(500);
    expect(totals.late).toBeGreaterThan(HEARTBEATS);
    expect(totals.events).toBeGreaterThan(100);
  });
});
