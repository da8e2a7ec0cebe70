import { describe, expect, it } from "vitest";
import type { Finding } from "#control-plane/watching/checking/watch/observe.ts";
import { DOWN, EMAILS, LOCATIONS, openRecording, UP } from "#test/control-plane/watching/checking/watch/recording.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const recording = await stopAfterAll(openRecording());

const ANSWER = { stage: "response", source: "target", reason: "unexpected_status" } as const;
const UNAVAILABLE: Finding = { ...DOWN, httpStatus: 503, fault: { ...ANSWER, message: "expected 200, got 503" } };

/** A monitor that is down at its three locations, because its server answers 503. */
async function breakOne() {
  const monitor = await recording.watch({ notify_email: true, notify_emails: EMAILS.slice(0, 1) });
  await monitor.end(await monitor.begin(), UP);
  await monitor.end(await monitor.begin(), UNAVAILABLE);
  return monitor;
}

describe("a fault that follows another during an outage", () => {
  it("is the cause now and a line of the timeline; the cause stays the first, and the end names both", async () => {
    const monitor = await breakOne();
    const first = { code: "http_status", message: "HTTP 503 instead of 200 from eu-west, us-east and ap-south" };
    expect(await monitor.incidents()).toMatchObject([{ cause: first, cause_now: first }]);

    const [moved, ...others] = await monitor.begin();
    if (moved === undefined) throw new Error("no schedule entry");
    await monitor.end([moved], DOWN);
    await monitor.end(others, DOWN);
    const now = {
      code: "connect_refused",
      message: "Connection refused from eu-west, us-east and ap-south (port 443)",
    };
    const [incident] = await monitor.incidents();
    expect(incident).toMatchObject({ cause: first, cause_now: now });
    expect(incident?.locations.map(({ error }) => error?.reason)).toEqual(["refused", "refused", "refused"]);
    const [left = "", right = ""] = LOCATIONS.filter((location) => location !== moved.location);
    const lines = incident?.timeline.filter(({ kind }) => kind === "cause_changed") ?? [];
    expect(lines.at(-1)?.text).toBe(now.message);
    expect(lines[0]?.text).toBe(
      `HTTP 503 instead of 200 from ${left} and ${right}; connection refused from ${moved.location} (port 443)`,
    );

    await monitor.end(await monitor.begin(), UP);
    expect(await monitor.events("monitor.up")).toMatchObject([{ cause: first, cause_now: now }]);
  });

  it("is none where only the measured part of its words differs", async () => {
    const monitor = await recording.watch({});
    const cut = (bytes: number): Finding => ({
      ...DOWN,
      fault: { ...ANSWER, reason: "incomplete", message: `the response ended after ${bytes} of 10,000 bytes` },
    });
    await monitor.end(await monitor.begin(), UP);
    await monitor.end(await monitor.begin(), cut(8));
    await monitor.end(await monitor.begin(), cut(9));
    const [incident] = await monitor.incidents();
    expect(incident?.cause_now).toEqual(incident?.cause);
    expect(incident?.locations.map(({ error }) => error)).toEqual(Array(3).fill(cut(8).fault));
    expect(incident?.timeline.map(({ kind }) => kind)).not.toContain("cause_changed");
  });
});

describe("a location whose good check ends the outage", () => {
  it("is up in the incident, as those that recovered before it; one that was not good stays down", async () => {
    const monitor = await breakOne();
    const [one, two, three] = await monitor.begin();
    if (one === undefined || two === undefined || three === undefined) throw new Error("no schedule entries");
    await monitor.end([one], UP);
    await monitor.end([two], UP);
    const [incident] = await monitor.incidents();
    expect(incident?.status).toBe("resolved");
    expect(Object.fromEntries(incident?.locations.map(({ location, status }) => [location, status]) ?? [])).toEqual({
      [one.location]: "up",
      [two.location]: "up",
      [three.location]: "down",
    });
  });
});
