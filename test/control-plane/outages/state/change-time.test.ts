import { expect, it } from "vitest";
import { statusChangedAt } from "#control-plane/outages/state/events.ts";
import type { Observation } from "#control-plane/outages/state/state.ts";
import { START, tell, type Story } from "#test/control-plane/outages/state/story.ts";

/** Checks a location. Returns from when on the history shows a new status, in seconds of the story; null: none. */
function changeOf(story: Story, location: string, verdict: Observation["verdict"]): number | null {
  const before = story.state;
  const times = story.check(location, verdict).events.map((event) => statusChangedAt(event, before));
  const at = times.find((time) => time !== null) ?? null;
  return at === null ? null : (at - START) / 1_000;
}

it("an outage counts from its first failing check", () => {
  const story = tell({ locations: ["eu"], retries: 1 });
  expect(changeOf(story, "eu", "up")).toBe(0);
  story.wait(60);
  expect(changeOf(story, "eu", "down")).toBeNull();
  story.wait(1);
  expect(changeOf(story, "eu", "down")).toBe(60);
  story.wait(60);
  expect(changeOf(story, "eu", "up")).toBe(121);
});

it("an outage that continues after an unknown time leaves that time unknown", () => {
  const story = tell({ locations: ["eu"], retries: 0 });
  story.check("eu", "down");
  story.wait(600);
  expect(changeOf(story, "eu", "unknown")).toBe(600);
  story.wait(60);
  expect(changeOf(story, "eu", "down")).toBe(660);
});

it("an outage is not dated back before an unknown time by a location that failed alone", () => {
  const story = tell();
  story.checkAll({ eu: "up", us: "up", ap: "up" });
  story.wait(120);
  story.check("eu", "down");
  story.wait(60);
  // The other two have fallen silent.
  expect(changeOf(story, "eu", "down")).toBe(180);
  story.wait(5);
  expect(changeOf(story, "us", "down")).toBe(180);
});
