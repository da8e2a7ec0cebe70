import { describe, expect, it } from "vitest";
import type { CheckType } from "#control-plane/outages/kinds/kinds.ts";
import { judgedFinding, type Finding } from "#control-plane/watching/checking/watch/observe.ts";
import { openSweepWorld } from "#test/control-plane/watching/checking/timeout-sweep/sweep-world.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const UP: Finding = { ...judgedFinding("up", null), responseMs: 20, httpStatus: 200 };
const MINUTE_MS = 60_000;
const MAILED = { locations: ["eu-west"], notify_email: true, notify_emails: ["ops@example.com"] };

const world = await stopAfterAll(openSweepWorld());

interface Sent {
  readonly type: string;
  readonly channel: string | null;
  readonly data: { readonly previous_status: string; readonly status: string; readonly cause: unknown };
}

/** The events of a monitor with the channels of their deliveries, oldest first. */
async function sentOf(id: number): Promise<readonly Sent[]> {
  return world.sql<Sent[]>`
    select e.type, d.channel, (e.body::json -> 'data')::json as data
    from events as e left join deliveries as d on d.event_id = e.id
    where e.monitor_id = ${id} order by e.created_at, e.type, d.channel`;
}

const names = async (id: number) => (await sentOf(id)).map(({ type, channel }) => [type, channel]);

/** Lets minutes pass, with sweeps by two replicas in each of them. */
async function pass(minutes: number): Promise<void> {
  for (let minute = 0; minute < minutes; minute += 1) {
    world.clock.advance(MINUTE_MS);
    await world.sweep(2);
  }
}

describe("a monitor that is not being checked for ten minutes", () => {
  it.each<CheckType>(["http", "domain", "visual"])("of kind %s is mailed once, and again when it is", async (kind) => {
    const { ids } = await world.account(1, MAILED);
    const [id = 0] = ids;
    await world.sql`update monitors set check_type = ${kind} where id = ${id}`;
    await world.check(ids, UP);
    await pass(12);
    expect(await names(id)).toEqual([]);
    await pass(30);
    expect(await sentOf(id)).toMatchObject([
      {
        type: "monitor.unwatched",
        channel: "mail",
        data: {
          previous_status: "up",
          status: "unknown",
          cause: { code: "no_results", message: "No recent result has come from eu-west" },
        },
      },
    ]);
    await world.check(ids, UP);
    await pass(2);
    const sent = await sentOf(id);
    expect(sent.map(({ type, channel }) => [type, channel])).toEqual([
      ["monitor.unwatched", "mail"],
      ["monitor.watched", "mail"],
    ]);
    expect(sent[1]?.data).toMatchObject({ previous_status: "unknown", status: "up" });
  });

  it("is reported if it was just created and never checked, and not if it is paused", async () => {
    const { ids } = await world.account(2, MAILED);
    const [fresh = 0, paused = 0] = ids;
    await world.sql`update monitors set is_active = false where id = ${paused}`;
    await pass(9);
    expect(await names(fresh)).toEqual([]);
    await pass(3);
    expect(await names(fresh)).toEqual([["monitor.unwatched", "mail"]]);
    expect(await names(paused)).toEqual([]);
  });

  it("is not mailed where nobody asked for mail", async () => {
    const { ids } = await world.account(1, { locations: ["eu-west"] });
    await pass(12);
    expect(await names(ids[0] ?? 0)).toEqual([["monitor.unwatched", null]]);
  });

  it("is sent to the webhooks that name it, and to no other", async () => {
    const { accountId } = await world.account(1, { locations: ["eu-west"] });
    for (const events of [null, "{monitor.down}", "{monitor.unwatched,monitor.watched}"]) {
      await world.sql`
        insert into webhooks (account_id, name, url, events, is_active, format, secrets, created_at, updated_at)
        values (${accountId}, ${events ?? "all"}, 'https://hooks.example.com/', ${events}::text[], true, 'standard',
          '\\x00', now(), now())`;
    }
    await pass(12);
    const rows = await world.sql<{ name: string }[]>`
      select w.name from deliveries as d join webhooks as w on w.id = d.receiver_id
      where d.channel = 'webhook' and d.account_id = ${accountId}`;
    expect(rows).toEqual([{ name: "{monitor.unwatched,monitor.watched}" }]);
  });
});
