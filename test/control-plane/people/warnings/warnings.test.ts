import { afterEach, describe, expect, it } from "vitest";
import { createWarningsDatabase, type WarningsDatabase } from "#test/support/warnings.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const database = await stopAfterAll(createWarningsDatabase());
afterEach(() => database.clear());

type Opened = ReturnType<WarningsDatabase["open"]>;

/** Looks twice, with the longest patience of agents and locations in between, and returns code, subject and monitors. */
async function found(warnings: Opened, waitMs = 30_000): Promise<readonly string[]> {
  await warnings.refresh();
  database.clock.advance(waitMs);
  await warnings.refresh();
  return describeAll(warnings);
}

async function describeAll(warnings: Opened): Promise<readonly string[]> {
  return (await warnings.list()).map(({ code, subject, monitorIds, monitorCount }) => {
    expect(monitorCount).toBe(monitorIds.length);
    return [code, subject, ...monitorIds].filter((part) => part !== "").join(" ");
  });
}

describe("warnings", () => {
  it("are none while every location is served", async () => {
    await database.addAgent("eu-west");
    await database.addMonitor({ locations: ["eu-west"] });
    expect(await found(database.open())).toEqual([]);
  });

  it("name a region that no agent serves, once for all names that monitors have for it", async () => {
    await database.addAgent("eu-west", { isOnline: false });
    await database.addAgent("us-east");
    const one = await database.addMonitor({ locations: ["eu-west", "us-east"] });
    const two = await database.addMonitor({ locations: ["eu-west+!us-east"] });
    await database.addMonitor({ locations: ["us-east"] });
    const warnings = database.open();
    expect(await found(warnings)).toEqual([`location_unserved eu-west ${one} ${two}`]);
    expect(warnings.lines.map(({ level, code }) => `${level} ${code}`)).toEqual(["warn location_unserved"]);
  });

  it("do not count an agent of an account for others", async () => {
    const [owner, other] = [await database.addAccount(), await database.addAccount()];
    await database.addAgent("office", { accountId: owner });
    await database.addMonitor({ locations: ["office"], accountId: owner });
    const stranger = await database.addMonitor({ locations: ["office"], accountId: other });
    expect(await found(database.open())).toEqual([`location_unserved office ${stranger}`]);
  });

  it("are one when all agents are gone, and it replaces those of locations", async () => {
    for (const region of ["eu-west", "us-east"]) await database.addAgent(region);
    const id = await database.addMonitor({
      locations: ["eu-west", "us-east"],
      dueAt: new Date(database.clock.now().getTime() - 600_000),
      status: "unknown",
      state: { changed: 1 },
    });
    const warnings = database.open();
    await database.setOnline("eu-west", false);
    await found(warnings);
    expect(await describeAll(warnings)).toContain(`location_unserved eu-west ${id}`);
    await database.setOnline("us-east", false);
    expect(await found(warnings)).toEqual([`no_agents ${id}`]);
  });

  it("are logged once over all replicas, when they begin and when they end", async () => {
    await database.addAgent("eu-west", { isOnline: false });
    await database.addAgent("us-east");
    await database.addMonitor({ locations: ["eu-west"] });
    const replicas = [database.open(), database.open(), database.open()];
    const lookAll = async (): Promise<void> => {
      await Promise.all(replicas.map((replica) => replica.refresh()));
      for (const replica of replicas) await replica.refresh();
    };
    await lookAll();
    database.clock.advance(30_000);
    await lookAll();
    database.clock.advance(60_000);
    await lookAll();
    await database.setOnline("eu-west", true);
    await lookAll();
    // Any replica can be the one that logs, so only their number is certain.
    const lines = replicas.flatMap((replica) => replica.lines);
    expect(lines.map(({ level, code }) => `${level} ${code}`).toSorted()).toEqual([
      "info location_unserved",
      "warn location_unserved",
    ]);
    for (const replica of replicas) expect(await replica.list()).toEqual([]);
  });

  it("name agents that are too old while they are attached, and end with their upgrade", async () => {
    await database.addAgent("eu-west", { version: "1.1.0" });
    await database.addAgent("us-east", { version: "1.1.0", isOnline: false });
    await database.addAgent("eu-west", { version: "0.1.0" });
    const warnings = database.open();
    expect(await found(warnings)).toEqual(["agents_too_old eu-west"]);
    await database.sql`update probes set hello = jsonb_set(hello, '{version}', '"0.0.9"')`;
    await warnings.refresh();
    expect(await warnings.list()).toEqual([]);
    expect(warnings.lines.map(({ level, code }) => `${level} ${code}`)).toEqual([
      "warn agents_too_old",
      "info agents_too_old",
    ]);
  });

  it("survive a replica: another one keeps the time of their beginning and does not repeat them", async () => {
    await database.addAgent("eu-west", { isOnline: false });
    await database.addAgent("us-east");
    await database.addMonitor({ locations: ["eu-west"] });
    const since = database.clock.now();
    const first = database.open();
    await found(first);
    await first.stop();
    const second = database.open();
    database.clock.advance(600_000);
    await second.refresh();
    expect((await second.list())[0]?.since).toEqual(since);
    expect(second.lines).toEqual([]);
  });

  it("name agents whose newest checks failed by their own fault, until a check succeeds", async () => {
    await database.addAgent("eu-west");
    const checkedAt = new Date(database.clock.now().getTime() - 5_000);
    const add = (source: string, reason: string) => addFaulty(checkedAt, source, reason);
    const ill = await add("probe", "timeout");
    await add("probe", "no_probe");
    await add("target", "timeout");
    const warnings = database.open();
    expect(await found(warnings)).toEqual([`agents_failing eu-west ${ill}`]);
    await database.sql`update monitor_slots set checked_at = ${new Date()} where monitor_id = ${ill}`;
    await warnings.refresh();
    expect(await describeAll(warnings)).toEqual([]);
  });

  it("are found although rows of checks and states cannot be parsed", async () => {
    await database.addAgent("eu-west");
    await database.addAgent("us-east");
    const checkedAt = new Date(database.clock.now().getTime() - 5_000);
    const ill = await addFaulty(checkedAt, "probe", "timeout");
    for (const fault of [
      "no JSON",
      "5",
      '{"source":"probe","reason":"\\u0000"',
      '{"source":"probe","reason":"a\\ud800"}',
    ]) {
      const broken = await addFaulty(checkedAt, "probe", "timeout");
      await database.sql`update checks set fault = ${fault} where monitor_id = ${broken}`;
    }
    const stateless = await database.addMonitor({ locations: ["eu-west", "us-east"], status: "unknown" });
    await database.sql`update monitor_states set state = 'no JSON' where monitor_id = ${stateless}`;
    const warnings = database.open();
    expect((await found(warnings))[1]).toBe(`too_few_locations ${stateless}`);
    const [failing] = await warnings.list();
    expect([failing?.code, failing?.monitorIds[0]]).toEqual(["agents_failing", ill]);
  });

  it("do not count the locations of a monitor that its plan does not allow", async () => {
    for (const region of ["eu-west", "us-east", "ap-south"]) await database.addAgent(region);
    const locations = ["eu-west", "us-east"];
    const id = await database.addMonitor({
      locations,
      settings: { locations: [...locations, "ap-south"] },
      status: "unknown",
      state: { changed: 1 },
    });
    const warnings = database.open();
    expect(await found(warnings)).toEqual([`too_few_locations ${id}`]);
    expect((await warnings.list())[0]?.message).toMatch(/No recent results come from eu-west(?:,| and) us-east\./);
  });

  it("name monitors with too few results for a reason that no other warning gives", async () => {
    await database.addAgent("eu-west");
    await database.addAgent("us-east");
    await database.addAgent("ap-south", { isOnline: false });
    const now = database.clock.now().getTime();
    const verdict = (location: string) => [location, "up", now, 1, now];
    const unknown = { status: "unknown", state: { changed: 1, locations: [verdict("eu-west")] } } as const;
    const silent = await database.addMonitor({ locations: ["eu-west", "us-east"], ...unknown });
    // The region that is gone explains this one.
    const explained = await database.addMonitor({ locations: ["eu-west", "ap-south"], ...unknown });
    const both = { changed: 1, locations: [verdict("eu-west"), verdict("us-east")] };
    await database.addMonitor({ locations: ["eu-west", "us-east"], status: "unknown", state: both });
    await database.addMonitor({ locations: ["eu-west"], status: "unknown", state: { changed: 1 } });
    expect(await found(database.open())).toEqual([
      `location_unserved ap-south ${explained}`,
      `too_few_locations ${silent}`,
    ]);
  });

  it("name monitors whose checks are late, except at locations without agents", async () => {
    await database.addAgent("eu-west");
    await database.addAgent("us-east", { isOnline: false });
    const dueAt = new Date(database.clock.now().getTime() - 31_000);
    const late = await database.addMonitor({ locations: ["eu-west"], dueAt });
    const away = await database.addMonitor({ locations: ["us-east"], dueAt });
    expect(await found(database.open())).toEqual([`checks_late ${late}`, `location_unserved us-east ${away}`]);
  });

  it("name monitors that ask for mail while there is no mail server, at once", async () => {
    await database.addAgent("eu-west");
    const id = await database.addMonitor({ locations: ["eu-west"], settings: { notify_email: true } });
    await database.addMonitor({ locations: ["eu-west"], settings: { keyword: '"notify_email":true' } });
    expect(await found(database.open(), 0)).toEqual([]);
    expect(await found(database.open({ isMailConfigured: false }), 0)).toEqual([`mail_not_configured ${id}`]);
  });

  it("name monitors whose mails have failed for a minute, until their recipients get mail again", async () => {
    await database.addAgent("eu-west");
    const longer = await addMail({ status: "retrying", failingForMs: 60_000 });
    const died = await addMail({ status: "dead", failingForMs: 90_000_000 });
    await addMail({ status: "retrying", failingForMs: 50_000 });
    await addMail({ status: "retrying", failingForMs: null });
    // It was refused for good: what is wrong with that address is shown by its monitors alone.
    await addMail({ status: "failed", failingForMs: 60_000 });
    const warnings = database.open();
    expect(await found(warnings, 0)).toEqual([`mail_failing ${longer} ${died}`]);
    expect((await warnings.list())[0]?.message).toContain("2 mails have failed for a minute or more");
    await database.sql`delete from failing_receivers where receiver_id in (${longer}, ${died})`;
    await warnings.refresh();
    expect(await describeAll(warnings)).toEqual([]);
    expect(warnings.lines.map(({ level, code }) => `${level} ${code}`)).toEqual([
      "warn mail_failing",
      "info mail_failing",
    ]);
  });

  it("about a mail server that took nothing end when it has taken any mail, those about a recipient do not", async () => {
    await database.addAgent("eu-west");
    await addMail({ status: "retrying", failingForMs: 60_000, errorCode: "smtp_unreachable" });
    const refused = await addMail({ status: "retrying", failingForMs: 60_000, errorCode: "smtp_recipient_refused" });
    const warnings = database.open();
    await warnings.refresh();
    expect(await describeAll(warnings)).toEqual([`mail_failing ${refused - 1} ${refused}`]);
    const taken = await addMail({ status: "delivered", failingForMs: null });
    await database.sql`update deliveries set delivered_at = ${database.clock.now()} where receiver_id = ${taken}`;
    await warnings.refresh();
    expect(await describeAll(warnings)).toEqual([`mail_failing ${refused}`]);
  });

  it("include figures that are late and checks without a partition, when upkeep has not mended them", async () => {
    await database.addAgent("eu-west");
    await database.sql`update history_progress set open_from = '2026-03-01T09:00:00Z' where name = 'hours'`;
    await database.sql`
      insert into checks_default (monitor_id, checked_at, lag_ms, missed, status, is_recheck, location)
      values (1, '2001-01-01', 0, 0, 1, false, 'eu-west')`;
    const warnings = database.open();
    expect(await found(warnings, 60_000)).toEqual([]);
    database.clock.advance(15 * 60_000);
    await warnings.refresh();
    expect(await describeAll(warnings)).toEqual(["history_late", "partitions_missing"]);
  });

  it("are counted by code", async () => {
    await database.addAgent("eu-west");
    for (const region of ["us-east", "us-west"]) await database.addAgent(region, { isOnline: false });
    await database.addMonitor({ locations: ["us-east", "us-west"] });
    const warnings = database.open();
    await warnings.refresh();
    expect(await warnings.registry.metrics()).toContain('vantage_warning{code="location_unserved"} 0');
    await found(warnings);
    const text = await warnings.registry.metrics();
    expect(text).toContain('vantage_warning{code="location_unserved"} 2');
    expect(text).toContain('vantage_warning{code="no_agents"} 0');
  });
});

async function addFaulty(checkedAt: Date, source: string, reason: string): Promise<number> {
  const id = await database.addMonitor({ locations: ["eu-west"], checkedAt });
  const fault = JSON.stringify({ stage: "connect", source, reason, message: "no answer" });
  await database.sql`
    insert into checks (monitor_id, checked_at, lag_ms, missed, status, is_recheck, location, fault)
    values (${id}, ${checkedAt}, 0, 0, 3, false, 'eu-west', ${fault})`;
  return id;
}

/** Adds a mail about a new monitor to a recipient with its id, who gets none since that time; null: who gets mail. */
async function addMail({
  status,
  failingForMs,
  errorCode = null,
}: {
  readonly status: string;
  readonly errorCode?: string | null;
  readonly failingForMs: number | null;
}): Promise<number> {
  const monitorId = await database.addMonitor({ locations: ["eu-west"] });
  const at = new Date(database.clock.now().getTime() - 600_000);
  await database.sql`
    with event as (
      insert into events (id, account_id, type, body, monitor_id, is_flapping, created_at)
      select 'evt_' || ${monitorId}::bigint, account_id, 'monitor.down', '{}', id, false, ${at}
      from monitors where id = ${monitorId} returning id, account_id
    )
    insert into deliveries (account_id, event_id, channel, receiver_id, status, attempts, created_at, error_code,
      error_message)
    select account_id, id, 'mail', ${monitorId}, ${status}, 3, ${at}, ${errorCode}, 'Connection refused.' from event`;
  if (failingForMs !== null) {
    const since = new Date(database.clock.now().getTime() - failingForMs);
    await database.sql`
      insert into failing_receivers (channel, receiver_id, failing_since, failures, next_attempt_at)
      values ('mail', ${monitorId}, ${since}, 3, ${since})`;
  }
  return monitorId;
}
