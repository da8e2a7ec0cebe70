import { describe, expect, it } from "vitest";
import { readGoodChecks } from "#control-plane/watching/evidence/baselines/store.ts";
import { decodeGoodCheck } from "#control-plane/watching/checking/snapshots/good-check.ts";
import { connect } from "#control-plane/core/database/connect.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { lockMonitors } from "#control-plane/monitors/store.ts";
import { DOWN, EMAILS, LOCATIONS, openRecording, UP } from "#test/control-plane/watching/checking/watch/recording.ts";
import { untilEndedOrLocked } from "#test/support/database-locks.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const recording = await stopAfterAll(openRecording());

describe("a change of a monitor during the check that finds its outage", () => {
  // For each: what changes, the settings before, the change, and who is mailed.
  it.each([
    ["mail is turned on", { notify_emails: EMAILS.slice(0, 1) }, { notify_email: true }, EMAILS.slice(0, 1)],
    [
      "an address is added",
      { notify_email: true, notify_emails: EMAILS.slice(0, 1) },
      { notify_emails: EMAILS },
      EMAILS,
    ],
    [
      "an address is removed",
      { notify_email: true, notify_emails: EMAILS },
      { notify_emails: EMAILS.slice(1) },
      EMAILS.slice(1),
    ],
    ["mail is turned off", { notify_email: true, notify_emails: EMAILS }, { notify_email: false }, []],
  ])("counts for the notice: %s", async (_what, before, change, mailed) => {
    const monitor = await recording.watch(before);
    await monitor.end(await monitor.begin(), UP);
    const entries = await monitor.begin();
    expect(entries).toHaveLength(LOCATIONS.length);
    await monitor.change(change);
    await monitor.end(entries, DOWN);
    expect((await monitor.state())?.status).toBe("down");
    expect(await monitor.mailed()).toEqual(mailed.map((email) => `monitor.down ${email}`));
  });

  it("counts for the notice that waited until the change was committed", async () => {
    const monitor = await recording.watch({ notify_email: true, notify_emails: EMAILS.slice(0, 1) });
    await monitor.end(await monitor.begin(), UP);
    // One location already fails, so that the next one makes the monitor down.
    const [first, ...others] = await monitor.begin();
    if (first === undefined) throw new Error("no schedule entry");
    await monitor.end([first], DOWN);
    // A second session has made the change and holds the monitor, as a request does that commits in a moment.
    const other = connect(recording.plane.databaseUrl, { name: "change", connections: 1, statementTimeoutMs: 30_000 });
    const ending = await transact(other, async (tx) => {
      await lockMonitors(tx, [monitor.id]);
      const settings = tx`(settings::jsonb || ${JSON.stringify({ notify_emails: EMAILS.slice(1) })}::text::jsonb)::text`;
      await tx`update monitors set settings = ${settings} where id = ${monitor.id}`;
      const ended = monitor.end(others, DOWN);
      await untilEndedOrLocked(recording.sql, ended);
      return { ended };
    });
    await ending.ended;
    await other.end();
    expect((await monitor.state())?.status).toBe("down");
    expect(await monitor.mailed()).toEqual(EMAILS.slice(1).map((email) => `monitor.down ${email}`));
  });

  it("counts for the decision: a larger quorum is not met, and reminders begin", async () => {
    const monitor = await recording.watch({ quorum: 2 });
    await monitor.end(await monitor.begin(), UP);
    const [first, second, ...others] = await monitor.begin();
    if (first === undefined || second === undefined) throw new Error("no schedule entries");
    await monitor.change({ quorum: 3, repeat_minutes: 10 });
    await monitor.end([first, second], DOWN);
    expect(await monitor.state()).toMatchObject({ status: "up", remindAt: null });
    expect(await monitor.transitions()).toEqual(["up"]);
    await monitor.end(others, DOWN);
    const state = await monitor.state();
    expect(state?.status).toBe("down");
    expect(state?.remindAt).toBeGreaterThan(Date.now() + 500_000);
  });
});

describe("a shorter interval that is set during a check", () => {
  it("counts from the next check on: the running one is repeated, and is not recorded twice", async () => {
    const monitor = await recording.watch({});
    await monitor.change({ interval_minutes: 1440 });
    const entries = await monitor.begin();
    await monitor.change({ interval_minutes: 1 });
    await monitor.end(entries, UP);
    expect(await monitor.checks()).toBe(0);
    await monitor.end(await monitor.begin(), UP);
    expect(await monitor.checks()).toBe(entries.length);
    const [next] = await monitor.nextPlanned();
    expect(next?.getTime()).toBeLessThan(Date.now() + 2 * 60_000);
  });
});

describe("the newest good check of a schedule entry", () => {
  const PHASES = { redirect_ms: 0, dns_ms: 1, connect_ms: 2, tls_ms: 3, processing_ms: 4 };

  it("is kept with every good check, through those that fail, until the monitor has a new target", async () => {
    const monitor = await recording.watch({});
    const good = async () => {
      const rows = await readGoodChecks(recording.sql, monitor.id);
      return rows.map(({ goodAt, good: text }) => ({ at: goodAt.getTime(), ...decodeGoodCheck(text) }));
    };
    expect(await good()).toEqual([]);
    // The first changes the status, in a transaction; the second changes nothing, and is recorded with others.
    for (const httpStatus of [200, 204]) {
      await monitor.end(await monitor.begin(), { ...UP, httpStatus, phases: PHASES, fingerprint: "ab".repeat(32) });
      const rows = await good();
      expect(rows).toHaveLength(LOCATIONS.length);
      for (const row of rows) expect(row).toMatchObject({ httpStatus, responseMs: 20, fingerprint: "ab".repeat(32) });
    }
    const before = await good();
    await monitor.end(await monitor.begin(), DOWN);
    const fault = { stage: "connect", source: "probe", reason: "timeout", message: "no answer" } as const;
    await monitor.end(await monitor.begin(), { ...DOWN, verdict: "unknown", fault });
    expect((await monitor.state())?.status).toBe("down");
    expect(await good()).toEqual(before);
    await monitor.change({ url: "https://other.example.com/" });
    expect(await good()).toEqual([]);
  });
});

it("an outage begins with a check of the history, and keeps its planned time, also if the clock was set back during it", async () => {
  const monitor = await recording.watch({});
  await monitor.end(await monitor.begin(), UP);
  const plannedAt = new Date();
  plannedAt.setSeconds(plannedAt.getSeconds() - 5);
  const entries = (await monitor.begin()).map((entry) => ({ ...entry, plannedAt }));
  await monitor.end(entries, DOWN, false, 60_000);
  const [down] = await monitor.events("monitor.down");
  const failed = await monitor.failed();
  expect(failed.map(({ at }) => at.toISOString())).toContain(down?.["started_at"]);
  for (const check of failed) expect(check.plannedAt).toEqual(plannedAt);
});
