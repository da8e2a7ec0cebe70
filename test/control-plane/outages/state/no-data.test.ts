import { describe, expect, it } from "vitest";
import { silenceNotices, type SilenceContext } from "#control-plane/outages/state/notices.ts";
import { nextTimeoutSweep } from "#control-plane/outages/state/rechecks.ts";
import type { Transition } from "#control-plane/outages/state/transition.ts";
import { kinds, tell, tellOfUp, type Story } from "#test/control-plane/outages/state/story.ts";

const FREE: SilenceContext = { maintenance: false, dependency: "fine" };
const MAINTENANCE: SilenceContext = { maintenance: true, dependency: "fine" };

/** Applies a transition of a story, and returns the kinds of the notices. */
function notice(story: Story, made: Transition, context: SilenceContext = FREE): readonly string[] {
  const { state, notices } = silenceNotices(story.settings, made, context, story.now);
  story.state = state;
  return kinds(notices);
}

/** Lets time pass without a check until so many seconds after the last results are no longer fresh. */
function lack(story: Story, seconds: number): void {
  story.wait(136);
  notice(story, story.expire());
  story.wait(seconds);
}

describe("a monitor without data", () => {
  it("is reported after ten minutes, once, and once more when it has data again", () => {
    const story = tellOfUp();
    lack(story, 599);
    expect(notice(story, story.expire())).toEqual([]);
    story.wait(1);
    expect(nextTimeoutSweep(story.settings, story.state, story.now - 1_000)).toBe(story.now);
    const made = story.expire();
    expect(made.events).toEqual([
      { kind: "no_data", at: story.now, since: story.now - 600_000, silent: ["eu", "us", "ap"] },
    ]);
    expect(notice(story, made)).toEqual(["no_data"]);
    story.wait(3_600);
    expect(notice(story, story.expire())).toEqual([]);
    expect(notice(story, story.check("eu", "up"))).toEqual([]);
    expect(notice(story, story.check("us", "up"))).toEqual(["data_returned"]);
    expect(notice(story, story.check("ap", "up"))).toEqual([]);
    lack(story, 600);
    expect(notice(story, story.expire())).toEqual(["no_data"]);
  });

  it("is not reported if it has data again before that", () => {
    const story = tellOfUp({ locations: ["eu"] });
    lack(story, 500);
    expect(notice(story, story.check("eu", "up"))).toEqual([]);
    lack(story, 500);
    expect(notice(story, story.expire())).toEqual([]);
  });

  it("is reported although checks are attempted that no probe can run", () => {
    const story = tellOfUp({ locations: ["eu"] });
    lack(story, 0);
    const kindsSent: string[] = [];
    for (let minute = 0; minute < 15; minute += 1) {
      kindsSent.push(...notice(story, story.check("eu", "unknown")));
      story.wait(60);
    }
    expect(kindsSent).toEqual(["no_data"]);
  });

  it("is reported if it is new and has never been checked, ten minutes after its first evaluation", () => {
    const story = tell();
    expect(notice(story, story.expire())).toEqual([]);
    story.wait(600);
    expect(notice(story, story.expire())).toEqual(["no_data"]);
  });

  it("is not reported if its locations disagree: it is checked", () => {
    const story = tell({ locations: ["eu", "us"] });
    for (let minute = 0; minute < 15; minute += 1) {
      expect(notice(story, story.check("eu", "up"))).toEqual([]);
      expect(notice(story, story.check("us", "down"))).toEqual([]);
      story.wait(60);
    }
    expect(story.state.status).toBe("unknown");
  });

  it("is not reported if it waits for pings", () => {
    const story = tell({ locations: ["ping"], isPassive: true });
    story.wait(86_400);
    expect(notice(story, story.expire())).toEqual([]);
  });

  it("is reported after its maintenance, if it still has none then", () => {
    const story = tellOfUp();
    lack(story, 700);
    expect(notice(story, story.expire(), MAINTENANCE)).toEqual([]);
    expect(nextTimeoutSweep(story.settings, story.state, story.now)).toBe(story.now + 30_000);
    story.wait(60);
    expect(notice(story, story.expire())).toEqual(["no_data"]);
    for (const at of ["eu", "us"]) notice(story, story.check(at, "up"), MAINTENANCE);
    lack(story, 700);
    notice(story, story.expire(), MAINTENANCE);
    expect(notice(story, story.check("eu", "up"), MAINTENANCE)).toEqual([]);
    expect(notice(story, story.check("us", "up"))).toEqual([]);
  });

  it("that was reported without data is reported to have data again during a maintenance, too", () => {
    const story = tellOfUp({ locations: ["eu"] });
    lack(story, 600);
    expect(notice(story, story.expire())).toEqual(["no_data"]);
    expect(notice(story, story.check("eu", "up"), MAINTENANCE)).toEqual(["data_returned"]);
  });
});
