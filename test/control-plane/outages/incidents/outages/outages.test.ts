import { describe, expect, it } from "vitest";
import { transact } from "#control-plane/core/database/transaction.ts";
import type { Transaction } from "#control-plane/core/database/connect.ts";
import { MOST_REPEATED } from "#control-plane/outages/incidents/entry.ts";
import { readIncidentEvidence } from "#control-plane/watching/evidence/requests.ts";
import { exportIncidents, readIncident } from "#control-plane/outages/incidents/incidents.ts";
import { openOutages } from "#control-plane/outages/incidents/outages/open.ts";
import { addLines, changeOutage, endOutagesOf } from "#control-plane/outages/incidents/outages/outages.ts";
import { resolveOutages } from "#control-plane/outages/incidents/outages/resolve.ts";
import type { IncidentMonitor } from "#control-plane/outages/incidents/incident.ts";
import {
  after,
  openIncidentDatabase,
  openOutage,
  refusedAt,
  resolveOutage,
  STARTED,
} from "#test/control-plane/outages/incidents/database.ts";
import { untilLockIsAwaited } from "#test/support/database-locks.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const database = await stopAfterAll(openIncidentDatabase());
const accountId = await database.createAccount();

const within = <T>(work: (tx: Transaction) => Promise<T>): Promise<T> => transact(database.sql, work);
const open = (monitor: IncidentMonitor, seconds = 0, locations: readonly string[] = ["eu-west", "us-east"]) =>
  within((tx) =>
    openOutage(tx, {
      monitor,
      startedAt: after(seconds),
      confirmedAt: after(seconds + 2),
      failing: refusedAt(...locations),
      suppressedBy: null,
    }),
  );

/** Reads an incident as the API shows it. */
async function read(id: number, now = after(100)) {
  const found = await readIncident(database.sql, accountId, id, { now, evidenceOf: readIncidentEvidence });
  if (found === null) throw new Error("no incident");
  return found;
}

const kindsOf = async (id: number) => (await read(id)).timeline.map(({ kind }) => kind);

describe("an outage", () => {
  it("opens an incident that names the cause and keeps the facts of the monitor", async () => {
    const monitor = await database.createMonitor(accountId, "Checkout");
    const { incident, isNew } = await open(monitor);
    expect(isNew).toBe(true);
    expect(incident.cause).toEqual({
      code: "connect_refused",
      message: "Connection refused from eu-west and us-east (port 443)",
    });
    await database.sql`delete from monitors where id = ${monitor.id}`;
    expect(await read(incident.id)).toMatchObject({
      id: incident.id,
      monitor: { id: monitor.id, name: "Checkout", url: "https://shop.example.com/", check_type: "http" },
      monitor_ids: [monitor.id],
      page_ids: [],
      title: "Checkout is down",
      status: "investigating",
      impact: "major",
      manual: false,
      public: true,
      started_at: "2026-03-01T12:00:00.000Z",
      confirmed_at: "2026-03-01T12:00:02.000Z",
      recovered_at: null,
      resolved_at: null,
      duration_seconds: 100,
      suppressed_by: null,
      acknowledged: null,
      updates: [],
      evidence: null,
      locations: [
        { location: "eu-west", status: "down", error: { stage: "connect", source: "target", reason: "refused" } },
        { location: "us-east", status: "down" },
      ],
    });
    expect(await kindsOf(incident.id)).toEqual(["opened", "confirmed"]);
  });

  it("is one incident, even if the same transaction reports it twice", async () => {
    const monitor = await database.createMonitor(accountId);
    const outage = {
      monitor,
      startedAt: STARTED,
      confirmedAt: STARTED,
      failing: refusedAt("eu-west"),
      suppressedBy: null,
    };
    const [first, second] = await within(async (tx) => [await openOutage(tx, outage), await openOutage(tx, outage)]);
    expect([first?.isNew, second?.isNew]).toEqual([true, false]);
    expect(second?.incident.id).toBe(first?.incident.id);
    expect(await kindsOf(first?.incident.id ?? 0)).toEqual(["opened", "confirmed"]);
  });

  it("is opened by one of two transactions at once; the other one waits and finds it", async () => {
    const monitor = await database.createMonitor(accountId);
    const isOpen = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    const outage = {
      monitor,
      startedAt: STARTED,
      confirmedAt: STARTED,
      failing: refusedAt("eu-west"),
      suppressedBy: null,
    };
    const winner = within(async (tx) => {
      const opened = await openOutage(tx, outage);
      isOpen.resolve();
      await go.promise;
      return opened;
    });
    await isOpen.promise;
    let hasEnded = false;
    const loser = open(monitor, 1).finally(() => {
      hasEnded = true;
    });
    await untilLockIsAwaited(database.sql);
    expect(hasEnded).toBe(false);
    go.resolve();
    const [first, second] = await Promise.all([winner, loser]);
    expect([first.isNew, second.isNew]).toEqual([true, false]);
    expect(second.incident).toMatchObject({ id: first.incident.id, startedAt: STARTED });
    expect(await kindsOf(first.incident.id)).toEqual(["opened", "confirmed"]);
  });

  it("is opened by the second of two transactions if the first is rolled back", async () => {
    const monitor = await database.createMonitor(accountId);
    const outage = {
      monitor,
      startedAt: STARTED,
      confirmedAt: STARTED,
      failing: refusedAt("eu-west"),
      suppressedBy: null,
    };
    await expect(
      within(async (tx) => {
        await openOutage(tx, outage);
        throw new Error("the process stops");
      }),
    ).rejects.toThrow("the process stops");
    expect((await open(monitor)).isNew).toBe(true);
  });

  it("is opened once by twenty transactions at once", async () => {
    const monitor = await database.createMonitor(accountId);
    const opened = await Promise.all(Array.from({ length: 20 }, () => open(monitor)));
    expect(opened.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect(new Set(opened.map(({ incident }) => incident.id)).size).toBe(1);
  });

  it("opens and ends together with those of other monitors as it does alone", async () => {
    const monitors = await Promise.all([1, 2, 3].map((n) => database.createMonitor(accountId, `Shop ${n}`)));
    const outageOf = (monitor: IncidentMonitor) => {
      const failing = refusedAt("eu-west");
      return { monitor, startedAt: STARTED, confirmedAt: after(2), failing, suppressedBy: null };
    };
    const [, second] = monitors;
    if (second === undefined) throw new Error("no monitor");
    const { incident: known } = await within((tx) => openOutage(tx, outageOf(second)));
    const opened = await within((tx) => openOutages(tx, monitors.toReversed().map(outageOf)));
    expect(opened.map(({ incident, isNew }) => [incident.monitor?.id, incident.entryCount, isNew])).toEqual(
      monitors.toReversed().map(({ id }) => [id, 2, id !== second.id]),
    );
    expect(opened[1]?.incident.id).toBe(known.id);
    await within((tx) => endOutagesOf(tx, [second.id], after(60), "paused"));
    const ids = opened.map(({ incident }) => incident.id);
    const resolved = await within((tx) =>
      resolveOutages(
        tx,
        ids.map((incidentId, n) => ({
          incidentId,
          recoveredAt: after(120 + n),
          confirmedAt: after(120 + n),
          good: [],
        })),
      ),
    );
    expect(resolved.map((one) => one?.resolvedAt ?? null)).toEqual([after(120), null, after(122)]);
    expect(await Promise.all(ids.map(kindsOf))).toEqual([
      ["opened", "confirmed", "recovered", "resolved"],
      ["opened", "confirmed", "paused"],
      ["opened", "confirmed", "recovered", "resolved"],
    ]);
  });

  it("of a heartbeat has words of its own", async () => {
    const shop = await database.createMonitor(accountId);
    const monitor = { ...shop, url: "", checkType: "heartbeat" };
    const message = "no ping arrived by 2026-03-01 12:00:00 UTC";
    const fault = { stage: "request", source: "target", reason: "heartbeat_late", message } as const;
    const failing = [{ location: "heartbeat", fault }];
    const times = { startedAt: STARTED, confirmedAt: STARTED };
    const { incident } = await within((tx) => openOutage(tx, { monitor, ...times, failing, suppressedBy: null }));
    await within((tx) => resolveOutage(tx, incident.id, { recoveredAt: after(60), confirmedAt: after(60) }));
    const shown = await read(incident.id);
    expect(shown).toMatchObject({
      monitor: { url: null, check_type: "heartbeat" },
      cause: { code: "heartbeat_late", message: "No ping arrived by 2026-03-01 12:00:00 UTC" },
    });
    expect(shown.timeline.map(({ text }) => text)).toEqual([
      "First missed or failed ping",
      "No ping arrived by 2026-03-01 12:00:00 UTC",
      "First good ping",
      "Resolved after 1 min",
    ]);
  });

  it("says which monitor holds its notices back", async () => {
    const parent = await database.createMonitor(accountId);
    const monitor = await database.createMonitor(accountId);
    const { incident } = await within((tx) =>
      openOutage(tx, {
        monitor,
        startedAt: STARTED,
        confirmedAt: STARTED,
        failing: refusedAt("eu-west"),
        suppressedBy: parent.id,
      }),
    );
    const shown = await read(incident.id);
    expect(shown.suppressed_by).toBe(parent.id);
    expect(shown.timeline.at(-1)).toMatchObject({ kind: "suppressed", by: null });
    expect(shown.timeline.at(-1)?.text).toContain(`monitor ${parent.id}`);
  });

  it("is never confirmed before it started, whatever the clock does", async () => {
    const monitor = await database.createMonitor(accountId);
    const { incident } = await within((tx) =>
      openOutage(tx, { monitor, startedAt: after(3_600), confirmedAt: STARTED, failing: [], suppressedBy: null }),
    );
    expect(incident.confirmedAt).toEqual(after(3_600));
    expect((await read(incident.id, STARTED)).duration_seconds).toBe(0);
  });
});

describe("the locations of an outage", () => {
  it("change with an entry each, and the cause counts further ones", async () => {
    const monitor = await database.createMonitor(accountId);
    const { incident } = await open(monitor, 0, ["eu-west"]);
    const change = (seconds: number, ...locations: readonly string[]) =>
      within((tx) => changeOutage(tx, incident.id, { monitor, failing: refusedAt(...locations), at: after(seconds) }));
    expect(await change(10, "eu-west")).toBe(false);
    expect(await change(11, "eu-west", "us-east")).toBe(true);
    expect(await change(12, "us-east")).toBe(true);
    const shown = await read(incident.id);
    expect(shown.cause?.message).toBe("Connection refused from eu-west and us-east (port 443)");
    expect(shown.locations.map(({ location, status, error }) => [location, status, error?.reason])).toEqual([
      ["eu-west", "up", "refused"],
      ["us-east", "down", "refused"],
    ]);
    expect(shown.timeline.slice(2)).toEqual([
      {
        at: after(11).toISOString(),
        kind: "location_failed",
        by: null,
        text: "us-east: connection refused (port 443)",
      },
      { at: after(12).toISOString(), kind: "location_recovered", by: null, text: "eu-west has recovered" },
    ]);
  });

  it("do not change after its end", async () => {
    const monitor = await database.createMonitor(accountId);
    const { incident } = await open(monitor, 0, ["eu-west"]);
    await within((tx) => resolveOutage(tx, incident.id, { recoveredAt: after(5), confirmedAt: after(6) }));
    const failing = refusedAt("us-east");
    expect(await within((tx) => changeOutage(tx, incident.id, { monitor, failing, at: after(7) }))).toBe(false);
  });
});

describe("the end of an outage", () => {
  it("is the first good check of the recovery", async () => {
    const monitor = await database.createMonitor(accountId);
    const { incident } = await open(monitor);
    const times = { recoveredAt: after(243), confirmedAt: after(244) };
    const resolved = await within((tx) => resolveOutage(tx, incident.id, times));
    expect(resolved).toMatchObject({ status: "resolved", recoveredAt: after(243), resolvedAt: after(243) });
    const shown = await read(incident.id, after(9_999));
    expect(shown).toMatchObject({ status: "resolved", duration_seconds: 243, resolved_at: after(243).toISOString() });
    expect(shown.timeline.slice(2).map(({ kind, text }) => [kind, text])).toEqual([
      ["recovered", "First good check"],
      ["resolved", "Resolved after 4 min 3 s"],
    ]);
  });

  it("happens once; a second report changes nothing", async () => {
    const monitor = await database.createMonitor(accountId);
    const { incident } = await open(monitor);
    const times = { recoveredAt: after(5), confirmedAt: after(5) };
    const all = await Promise.all([1, 2, 3].map(() => within((tx) => resolveOutage(tx, incident.id, times))));
    expect(all.filter((one) => one !== null)).toHaveLength(1);
    expect(
      await within((tx) => resolveOutage(tx, incident.id, { recoveredAt: after(90), confirmedAt: after(90) })),
    ).toBeNull();
    expect((await read(incident.id)).resolved_at).toBe(after(5).toISOString());
    expect(await kindsOf(incident.id)).toEqual(["opened", "confirmed", "recovered", "resolved"]);
    expect((await open(monitor, 10)).isNew).toBe(true);
  });

  it("is never before its confirmation, whatever the clock does", async () => {
    const monitor = await database.createMonitor(accountId);
    const { incident } = await open(monitor);
    const times = { recoveredAt: after(-3_600), confirmedAt: after(-3_599) };
    const resolved = await within((tx) => resolveOutage(tx, incident.id, times));
    expect([resolved?.recoveredAt, resolved?.resolvedAt]).toEqual([after(2), after(2)]);
    expect((await read(incident.id)).duration_seconds).toBe(2);
  });

  it.each(["paused", "deleted", "changed_target"] as const)("is possible without a recovery: %s", async (kind) => {
    const [one, other, third] = [
      await database.createMonitor(accountId),
      await database.createMonitor(accountId),
      await database.createMonitor(accountId),
    ];
    const opened = [await open(one), await open(other)];
    const ended = await within((tx) => endOutagesOf(tx, [one.id, other.id, third.id], after(30), kind));
    expect(new Set(ended.map(({ id }) => id))).toEqual(new Set(opened.map(({ incident }) => incident.id)));
    const shown = await read(opened[0]?.incident.id ?? 0);
    expect(shown).toMatchObject({ status: "resolved", recovered_at: null, resolved_at: after(30).toISOString() });
    expect(shown.timeline.at(-1)).toMatchObject({ kind, by: null, at: after(30).toISOString() });
    expect(await within((tx) => endOutagesOf(tx, [one.id], after(31), kind))).toEqual([]);
  });

  it("leaves incidents of other monitors open", async () => {
    const [one, other] = [await database.createMonitor(accountId), await database.createMonitor(accountId)];
    await open(one);
    const { incident } = await open(other);
    await within((tx) => endOutagesOf(tx, [one.id], after(5), "paused"));
    expect((await read(incident.id)).status).toBe("investigating");
  });
});

describe("the timeline", () => {
  it("shows entries by time, with the text of strangers on one line", async () => {
    const monitor = await database.createMonitor(accountId);
    const { incident } = await open(monitor);
    const { id: incidentId } = incident;
    await within((tx) =>
      addLines(tx, [
        { incidentId, kind: "reminder", at: after(60), text: "Reminder\r\nsent\u202E" },
        { incidentId, kind: "flapping", at: after(30), text: "x".repeat(2_000) },
      ]),
    );
    const [, , flapping, reminder] = (await read(incident.id)).timeline;
    expect(flapping?.text).toHaveLength(500);
    expect(reminder).toEqual({ at: after(60).toISOString(), kind: "reminder", by: null, text: "Reminder sent" });
  });

  it("has a limit for what repeats without end, and none for what ends an outage", async () => {
    const monitor = await database.createMonitor(accountId);
    const { incident } = await open(monitor);
    await database.sql`update incidents set entry_count = ${MOST_REPEATED - 1} where id = ${incident.id}`;
    const add = (kind: "reminder" | "paused") =>
      within((tx) => addLines(tx, [{ incidentId: incident.id, kind, at: after(9), text: "Reminder sent" }]));
    expect([await add("reminder"), await add("reminder"), await add("paused")]).toEqual([1, 0, 1]);
    expect(await kindsOf(incident.id)).toEqual(["opened", "confirmed", "reminder", "paused"]);
  });

  it("of an incident that does not exist gets no entry", async () => {
    const line = { incidentId: 999_999, kind: "reminder", at: STARTED, text: "x" } as const;
    expect(await within((tx) => addLines(tx, [line]))).toBe(0);
  });
});

describe("an account", () => {
  it("exports its incidents with their timelines, and takes them with it when it is erased", async () => {
    const other = await database.createAccount();
    const monitor = await database.createMonitor(other);
    await open(monitor);
    await open(await database.createMonitor(accountId));
    const exported = await exportIncidents(database.sql, other, { now: after(60), evidenceOf: readIncidentEvidence });
    expect(exported).toMatchObject([
      { monitor: { id: monitor.id }, timeline: [{ kind: "opened" }, { kind: "confirmed" }] },
    ]);
    await database.sql`delete from accounts where id = ${other}`;
    expect(await exportIncidents(database.sql, other, { now: after(60), evidenceOf: readIncidentEvidence })).toEqual(
      [],
    );
    const [left] = await database.sql<{ entries: number }[]>`
      select count(*) as entries from incident_entries left join incidents on incidents.id = incident_id
      where incidents.id is null`;
    expect(left?.entries).toBe(0);
  });
});
