import { describe, expect, it } from "vitest";
import { silenceNotices, type SilenceContext } from "#control-plane/outages/state/notices.ts";
import { nextTimeoutSweep } from "#control-plane/outages/state/rechecks.ts";
import type { Transition } from "#control-plane/outages/state/transition.ts";
import { tellOfUp, type Story } from "#test/control-plane/outages/state/story.ts";

const FREE: SilenceContext = { maintenance: false, dependency: "fine" };
const MAINTENANCE: SilenceContext = { maintenance: true, dependency: "fine" };

/** Applies a transition of a story, and returns the notices: their kinds, or the phase of flapping. */
function notice(story: Story, made: Transition, context: SilenceContext = FREE): readonly string[] {
  const { state, notices } = silenceNotices(story.settings, made, context, story.now);
  story.state = state;
  return notices.map((one) => (one.kind === "flapping_notice" ? one.phase : one.kind));
}

/** A passive monitor that was up. Its verdicts never get old. */
const begin = (): Story => tellOfUp({ locations: ["ping"], retries: 0, isPassive: true });

/** Goes down and up so many times, a minute apart. */
function change(story: Story, times: number, context: SilenceContext = FREE): readonly string[] {
  const sent: string[] = [];
  for (let done = 0; done < times; done += 1) {
    story.wait(60);
    const verdict = story.state.status === "up" ? "down" : "up";
    sent.push(...notice(story, story.check("ping", verdict), context));
  }
  return sent;
}

describe("people are notified of flapping", () => {
  it("when it begins, every 30 minutes while it lasts, and at its end", () => {
    const story = begin();
    expect(change(story, 5)).toEqual(["down", "up", "down", "up", "down", "begins"]);
    const begun = story.now;
    const sent: [minutes: number, what: string][] = [];
    for (let minute = 1; minute <= 180; minute += 1) {
      story.wait(60);
      // It changes for an hour and is good from then on.
      const verdict = minute <= 60 && minute % 5 === 0 ? (story.state.status === "up" ? "down" : "up") : null;
      const made = verdict === null ? story.expire() : story.check("ping", verdict);
      for (const what of notice(story, made)) sent.push([(story.now - begun) / 60_000, what]);
    }
    const notified = sent.filter(([, what]) => what !== "down" && what !== "up");
    // Of the changes of the last hour, the fifth newest one is that of minute 40.
    expect(notified).toEqual([
      [30, "lasts"],
      [60, "lasts"],
      [90, "lasts"],
      [100, "ends"],
    ]);
  });

  it("at times that do not wait for a check", () => {
    const story = begin();
    change(story, 5);
    const [first = 0] = story.state.changes;
    expect(nextTimeoutSweep(story.settings, { ...story.state, status: "unknown" }, story.now)).toBe(
      story.now + 600_000,
    );
    const later = story.now + 25 * 60_000;
    expect(nextTimeoutSweep(story.settings, { ...story.state, status: "unknown" }, later)).toBe(
      story.now + 30 * 60_000,
    );
    const last = first + 55 * 60_000;
    const notified = { ...story.state, status: "unknown", flappingNotifiedAt: last } as const;
    expect(nextTimeoutSweep(story.settings, notified, last)).toBe(first + 60 * 60_000);
  });

  it("after its maintenance, if it still is, and not at all if it no longer is", () => {
    const story = begin();
    expect(change(story, 7, MAINTENANCE)).toEqual([]);
    expect(story.state.isFlapping).toBe(true);
    expect(notice(story, story.expire())).toContain("begins");
    const other = begin();
    change(other, 7, MAINTENANCE);
    other.wait(7_200);
    expect(notice(other, other.expire())).not.toContain("ends");
  });

  it("of its end, also during a maintenance", () => {
    const story = begin();
    change(story, 5);
    story.wait(7_200);
    expect(notice(story, story.expire(), MAINTENANCE)).toEqual(["ends"]);
  });
});
