import { describe, expect, it } from "vitest";
import type { Survey } from "#control-plane/watching/checking/survey.ts";
import { findCauses, MOST_IDS, type WarningInputs } from "#control-plane/people/warnings/causes.ts";

const NOW = new Date("2026-03-01T12:30:00Z");
const NONE = { monitorCount: 0, monitorIds: [] };
const HEALTHY: Survey = {
  enrolled: 2,
  online: 2,
  active: { monitorCount: 3, monitorIds: [1, 2, 3] },
  withoutAgent: [],
  faulty: [],
  silent: [],
  overdue: { ...NONE, oldest: null, orphaned: 0, outage: null },
  askingForMail: NONE,
  history: { openHour: new Date("2026-03-01T11:00:00Z"), hasStrayChecks: false },
};
const LATE = {
  monitorCount: 1,
  monitorIds: [9],
  oldest: new Date("2026-03-01T12:00:00Z"),
  orphaned: 0,
  outage: null,
};
const NO_MAILS = { ...NONE, deliveries: 0, error: null };
const NO_AGENT = { group: "eu-west", locations: ["de", "eu-west"], monitorCount: 1, monitorIds: [1] };

function find(survey: Partial<Survey>, facts: Partial<WarningInputs> = {}) {
  return findCauses({
    now: NOW,
    survey: { ...HEALTHY, ...survey },
    attached: [],
    version: "0.3.0+3200.g1a2b3c4d",
    baseUrl: "https://vantage.example",
    isMailConfigured: true,
    failingMails: NO_MAILS,
    backupTrouble: null,
    ...facts,
  });
}

describe("the causes", () => {
  it("are none while everything works", () => {
    expect(find({})).toEqual([]);
  });

  it("are one if no agent is connected, whatever follows from it", () => {
    const causes = find({
      online: 0,
      withoutAgent: [NO_AGENT, { ...NO_AGENT, group: "us-east" }],
      silent: [{ id: 1, accountId: 1, missing: ["eu-west"] }],
      overdue: { ...LATE, monitorCount: 3, monitorIds: [1, 2, 3] },
    });
    expect(causes).toHaveLength(1);
    expect(causes[0]).toMatchObject({ code: "no_agents", monitorCount: 3, monitorIds: [1, 2, 3] });
    expect(causes[0]?.message).toContain("No probe agent is connected");
  });

  it("tell an installation without any agent how to start one", () => {
    expect(find({ online: 0, enrolled: 0 })[0]?.message).toContain("deploy/vantage probes token");
  });

  it("name each withoutAgent region once, with the other names that monitors have for it", () => {
    const [cause] = find({ withoutAgent: [NO_AGENT] });
    expect(cause).toMatchObject({ code: "location_unserved", subject: "eu-west", monitorIds: [1] });
    expect(cause?.message).toContain("No probe agent is connected in eu-west (locations of monitors: de).");
    expect(cause?.message).toContain("1 monitor is not checked from there");
  });

  it("name the agents that fail, and list a hundred of the monitors at most", () => {
    const checks = Array.from({ length: 250 }, (_, index) => {
      return { monitorId: 250 - index, accountId: 1, location: "eu-west", reason: "timeout" };
    });
    const [cause] = find({ faulty: [{ group: "eu-west", checks }] });
    expect(cause).toMatchObject({ code: "agents_failing", subject: "eu-west", monitorCount: 250 });
    expect(cause?.monitorIds).toEqual(Array.from({ length: MOST_IDS }, (_, index) => index + 1));
    expect(cause?.message).toContain("(timeout)");
  });

  it.each([
    [true, ["0.1.0", "0.1.9+3200.g1a2b3c4d", "0.0.7-rc.1", "1.3.0", "10.3.0"]],
    [false, ["0.2.0", "0.2.0+1.gffffff", "0.3.0", "0.4.0", "0.12.0"]],
    // Unreadable: they say nothing about their age.
    [false, ["", "0.1", "v0.1.0", "unknown", "0.1.0\n", "0.1.0 x", "0.1234567.0", "9".repeat(64)]],
  ])("count as too old (%s) agents of the versions %j", (isOld, versions) => {
    for (const version of versions) {
      const causes = find({}, { attached: [{ id: "agt-1", region: "eu-west", version }] });
      expect([version, ...causes.map(({ code }) => code)]).toEqual([version, ...(isOld ? ["agents_too_old"] : [])]);
    }
  });

  it("name the agents that are too old once for each region, with the line to run", () => {
    const attached = ["eu-west", "eu-west", "us-east"].map((region, at) => ({
      id: `agt-${at}`,
      region,
      version: "0.1.0",
    }));
    const causes = find({}, { attached });
    expect(causes.map(({ subject }) => subject)).toEqual(["eu-west", "us-east"]);
    expect(causes[0]?.message).toContain("eu-west do not fit version 0.3.0+3200.g1a2b3c4d");
    expect(causes[0]?.message).toContain("agt-0 (0.1.0), agt-1 (0.1.0)");
    expect(find({}, { attached, version: "0.3.0-dirty!" })).toEqual([]);
  });

  it.each([
    ["https://vantage.example/a", "`curl -fsS https://vantage.example/a/install/agent.sh | sudo sh`"],
    ["http://[::1]:8080", "`curl -fsS http://[::1]:8080/install/agent.sh | sudo sh`"],
    ["http://localhost:8080", "`curl -fsS http://localhost:8080/install/agent.sh | sudo sh`"],
    ["http://vantage.example", "`deploy/vantage probes token`"],
  ])("name no script from %s that others could change: %s", (baseUrl, line) => {
    const [cause] = find({}, { baseUrl, attached: [{ id: "agt-1", region: "eu-west", version: "0.1.0" }] });
    expect(cause?.message).toContain(line);
    expect(cause?.message.includes("curl")).toBe(line.includes("curl"));
  });

  it("name the locations without results of monitors that have too few", () => {
    const [cause] = find({ silent: [{ id: 4, accountId: 1, missing: ["eu-west", "us-east"] }] });
    expect(cause).toMatchObject({ code: "too_few_locations", monitorIds: [4] });
    expect(cause?.message).toContain("1 monitor has several locations");
    expect(cause?.message).toContain("eu-west, us-east");
  });

  it("say since when checks have been due", () => {
    const [cause] = find({ overdue: LATE });
    expect(cause).toMatchObject({ code: "checks_late", monitorIds: [9] });
    expect(cause?.message).toContain("2026-03-01T12:00:00.000Z");
    expect(cause?.message).toContain("have too much to do");
  });

  it("do not blame the load for checks of a replica that has ended", () => {
    const [cause] = find({ overdue: { ...LATE, orphaned: 1 } });
    expect(cause?.message).toContain("A replica of the control plane ended while it ran checks of 1 monitor");
    expect(cause?.message).not.toContain("have too much to do");
    const [both] = find({ overdue: { ...LATE, monitorCount: 5, orphaned: 1 } });
    expect(both?.message).toContain("A replica of the control plane ended");
    expect(both?.message).toContain("have too much to do");
  });

  it("do not blame the load for checks that were due while no control plane ran", () => {
    const outage = { startedAt: new Date("2026-03-01T11:55:00Z"), endedAt: new Date("2026-03-01T12:20:00Z") };
    const [cause] = find({ overdue: { ...LATE, outage } });
    expect(cause?.message).toContain("did not run from 2026-03-01T11:55:00.000Z to 2026-03-01T12:20:00.000Z");
    expect(cause?.message).not.toContain("have too much to do");
  });

  it("are there without a mail server only if monitors ask for mail", () => {
    expect(find({}, { isMailConfigured: false })).toEqual([]);
    const askingForMail = { monitorCount: 2, monitorIds: [1, 2] };
    expect(find({ askingForMail })).toEqual([]);
    const [cause] = find({ askingForMail }, { isMailConfigured: false });
    expect(cause).toMatchObject({ code: "mail_not_configured", monitorIds: [1, 2] });
    expect(cause?.message).toContain("VANTAGE_SMTP_URL");
  });

  it("quote the newest error of mails that keep failing", () => {
    const failingMails = { deliveries: 3, error: "Connection refused.", monitorCount: 1, monitorIds: [5] };
    const [cause] = find({}, { failingMails });
    expect(cause).toMatchObject({ code: "mail_failing", monitorIds: [5] });
    expect(cause?.message).toContain("Newest error: Connection refused. Check");
  });

  it.each([
    ["2026-03-01T10:30:00Z", []],
    ["2026-03-01T10:29:59Z", ["history_late"]],
  ])("count figures from %s on as late: %s", (open, codes) => {
    const causes = find({ history: { openHour: new Date(open), hasStrayChecks: false } });
    expect(causes.map(({ code }) => code)).toEqual(codes);
  });

  it("include checks outside of their partition", () => {
    expect(find({ history: { openHour: null, hasStrayChecks: true } })[0]?.code).toBe("partitions_missing");
  });
});
