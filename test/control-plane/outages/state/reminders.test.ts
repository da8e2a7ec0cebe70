import { describe, expect, it } from "vitest";
import { kinds, tellOfDown, type Story } from "#test/control-plane/outages/state/story.ts";

const MINUTE = 60;
const begin = (repeatMs: number | null = 30 * MINUTE * 1_000) =>
  tellOfDown({ locations: ["eu"], retries: 0, intervalMs: 86_400_000, repeatMs });

/** Checks once a minute. Returns the minutes after which a reminder was due. */
function remindersWithin(story: Story, minutes: number): readonly number[] {
  const seen: number[] = [];
  for (let minute = 1; minute <= minutes; minute++) {
    story.wait(MINUTE);
    if (kinds(story.check("eu", "down").events).includes("reminder")) seen.push(minute);
  }
  return seen;
}

describe("reminders of an outage", () => {
  it("follow its notice at equal pauses", () => {
    expect(remindersWithin(begin(), 100)).toEqual([30, 60, 90]);
  });

  it("are off unless they are wanted", () => {
    expect(remindersWithin(begin(null), 100)).toEqual([]);
  });

  it("keep their times if one is late, and are not made up for", () => {
    const story = begin();
    story.wait(75 * MINUTE);
    expect(story.check("eu", "down").events).toEqual([{ kind: "reminder", at: story.now }]);
    expect(remindersWithin(story, 20)).toEqual([15]);
  });

  it("end with the outage, and begin with the next", () => {
    const story = begin();
    remindersWithin(story, 20);
    story.check("eu", "up");
    expect(story.state.remindAt).toBeNull();
    story.check("eu", "down");
    expect(remindersWithin(story, 40)).toEqual([30]);
  });

  it("are not sent while the status is unknown, but when the outage is known again", () => {
    const story = begin();
    story.change({ intervalMs: 60_000 });
    story.wait(45 * MINUTE);
    expect(kinds(story.expire().events)).toEqual(["unknown"]);
    expect(kinds(story.check("eu", "down").events)).toEqual(["down", "reminder"]);
  });

  it("follow a change of the setting", () => {
    const story = begin(null);
    story.change({ repeatMs: 10 * MINUTE * 1_000 });
    expect(remindersWithin(story, 25)).toEqual([11, 21]);
    story.change({ repeatMs: 3 * MINUTE * 1_000 });
    expect(remindersWithin(story, 7)).toEqual([4, 7]);
    story.change({ repeatMs: null });
    expect(remindersWithin(story, 60)).toEqual([]);
  });

  it("are not delayed by an hour when the clock is set back by one", () => {
    const story = begin();
    story.wait(-3_600);
    story.check("eu", "down");
    expect(remindersWithin(story, 31)).toEqual([30]);
  });
});
