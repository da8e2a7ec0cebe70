import { describe, expect, it } from "vitest";
import { silenceNotices, type SilenceContext } from "#control-plane/outages/state/notices.ts";
import type { StateSettings } from "#control-plane/outages/state/state.ts";
import type { Transition } from "#control-plane/outages/state/transition.ts";
import { kinds, tellOfDown, tellOfUp, type Story } from "#test/control-plane/outages/state/story.ts";

const FREE: SilenceContext = { maintenance: false, dependency: "fine" };
const MAINTENANCE: SilenceContext = { maintenance: true, dependency: "fine" };
const DEPENDENCY: SilenceContext = { maintenance: false, dependency: "down" };

/** Applies the rules to a transition of a story, and returns the kinds of the notices and the wanted rechecks. */
function notice(story: Story, made: Transition, context: SilenceContext) {
  const { state, notices, rechecks } = silenceNotices(story.settings, made, context, story.now);
  story.state = state;
  return { sent: kinds(notices), rechecks, notices };
}

const begin = (settings: Partial<StateSettings> = {}) => tellOfUp({ locations: ["eu"], retries: 0, ...settings });

describe("notices of a monitor that nothing silences", () => {
  it("are its outages, their reminders and ends, and its slowness", () => {
    const story = begin({ degradedMs: 500, repeatMs: 30_000 });
    const send = (verdict: "up" | "down", responseMs = 100) =>
      notice(story, story.check("eu", verdict, { responseMs }), FREE).sent;
    expect(send("down")).toEqual(["down!"]);
    story.wait(30);
    expect(send("down")).toEqual(["reminder"]);
    expect(send("up")).toEqual(["up!"]);
    for (let checks = 0; checks < 2; checks++) expect(send("up", 900)).toEqual([]);
    expect(send("up", 900)).toEqual(["degraded"]);
    for (let checks = 0; checks < 2; checks++) expect(send("up")).toEqual([]);
    expect(send("up")).toEqual(["recovered_speed"]);
  });

  it("are no unknown status, no outage that continues after it, no flapping", () => {
    const story = tellOfDown({ locations: ["eu"], retries: 0 });
    story.wait(600);
    expect(notice(story, story.expire(), FREE).sent).toEqual([]);
    expect(notice(story, story.check("eu", "down"), FREE).sent).toEqual([]);
  });

  it("are the beginning of an advisory, once: not a further location of it, nor its end", () => {
    const several = tellOfUp({ locations: ["a", "b", "c", "d", "e"] });
    const send = (location: string, verdict: "up" | "down") =>
      notice(several, several.check(location, verdict), FREE).sent;
    expect([send("a", "down"), send("a", "down"), send("a", "down")]).toEqual([[], [], ["advisory"]]);
    expect([send("b", "down"), send("b", "down"), send("b", "down")].flat()).toEqual([]);
    expect(several.state.failing).toEqual(["a", "b"]);
    expect([send("a", "up"), send("b", "up")].flat()).toEqual([]);
    expect([send("b", "down"), send("b", "down"), send("b", "down")].flat()).toEqual(["advisory"]);
  });
});

describe.each([
  ["maintenance", MAINTENANCE],
  ["dependency", DEPENDENCY],
] as const)("during %s", (reason, context) => {
  it("an advisory that begins is not sent", () => {
    const several = tellOfUp();
    for (let failures = 0; failures < 3; failures++) {
      expect(notice(several, several.check("us", "down"), context).sent).toEqual([]);
    }
    expect(several.state.failing).toEqual(["us"]);
  });

  it("the notice of an outage is silenced, and dropped if the monitor recovers", () => {
    const story = begin();
    const made = story.check("eu", "down");
    expect(notice(story, made, context).sent).toEqual([]);
    expect(kinds(made.events)).toEqual(["down!"]);
    expect(story.state.silenced).toEqual({ reason, previous: "up", endedAt: null });
    story.wait(20);
    expect(notice(story, story.check("eu", "up"), context).sent).toEqual([]);
    expect(story.state.silenced).toBeNull();
  });

  it("reminders are silenced too", () => {
    const story = begin({ repeatMs: 30_000 });
    notice(story, story.check("eu", "down"), context);
    story.wait(30);
    const made = story.check("eu", "down");
    expect(kinds(made.events)).toEqual(["reminder"]);
    expect(notice(story, made, context).sent).toEqual([]);
    const sent = begin({ repeatMs: 30_000 });
    expect(notice(sent, sent.check("eu", "down"), FREE).sent).toEqual(["down!"]);
    sent.wait(30);
    expect(notice(sent, sent.check("eu", "down"), context).sent).toEqual([]);
  });

  it("the end of an outage is sent if its beginning was", () => {
    const story = begin();
    notice(story, story.check("eu", "down"), FREE);
    expect(notice(story, story.check("eu", "up"), context).sent).toEqual(["up!"]);
  });

  it("slowness is dropped, and so is its end", () => {
    const story = begin({ degradedMs: 500 });
    for (let checks = 0; checks < 3; checks++) {
      expect(notice(story, story.check("eu", "up", { responseMs: 900 }), context).sent).toEqual([]);
    }
    expect(story.state.isDegraded).toBe(true);
    for (let checks = 0; checks < 3; checks++) {
      expect(notice(story, story.check("eu", "up"), FREE).sent).toEqual([]);
    }
    expect(story.state.isDegraded).toBe(false);
  });

  it("the end of a slowness is sent if its beginning was", () => {
    const story = begin({ degradedMs: 500 });
    for (let checks = 0; checks < 3; checks++) {
      notice(story, story.check("eu", "up", { responseMs: 900 }), FREE);
    }
    const sent = Array.from({ length: 3 }, () => notice(story, story.check("eu", "up"), context).sent);
    expect(sent.flat()).toEqual(["recovered_speed"]);
  });
});

describe("a slowness that was sent", () => {
  const slow = (story: Story) =>
    Array.from({ length: 3 }, () => notice(story, story.check("eu", "up", { responseMs: 900 }), FREE).sent).flat();
  const quick = (story: Story) =>
    Array.from({ length: 3 }, () => notice(story, story.check("eu", "up"), FREE).sent).flat();

  it("has its end sent after a time in which nothing was known", () => {
    const story = begin({ degradedMs: 500 });
    expect(slow(story)).toEqual(["degraded"]);
    story.wait(600);
    expect(notice(story, story.expire(), FREE).sent).toEqual([]);
    expect(quick(story)).toEqual(["recovered_speed"]);
  });

  it("is not sent again after a time in which nothing was known", () => {
    const story = begin({ degradedMs: 500 });
    expect(slow(story)).toEqual(["degraded"]);
    story.wait(600);
    notice(story, story.expire(), FREE);
    expect(slow(story)).toEqual([]);
  });

  it("ends with an outage that is sent: the end of that is the end of both", () => {
    const story = begin({ degradedMs: 500 });
    slow(story);
    expect(notice(story, story.check("eu", "down"), FREE).sent).toEqual(["down!"]);
    expect(quick(story)).toEqual(["up!"]);
    expect(slow(story)).toEqual(["degraded"]);
  });

  it("ends with an outage that is sent after it was silenced", () => {
    const story = begin({ degradedMs: 500 });
    slow(story);
    notice(story, story.check("eu", "down"), MAINTENANCE);
    notice(story, story.expire(), FREE);
    story.wait(1);
    expect(notice(story, story.check("eu", "down"), FREE).sent).toEqual(["down!"]);
    expect(quick(story)).toEqual(["up!"]);
  });

  it.each([
    ["maintenance", MAINTENANCE],
    ["dependency", DEPENDENCY],
  ])("has its end sent after an outage that %s silenced, or continues", (_reason, context) => {
    for (const isQuick of [true, false]) {
      const story = begin({ degradedMs: 500 });
      slow(story);
      notice(story, story.check("eu", "down"), context);
      story.wait(20);
      expect((isQuick ? quick : slow)(story)).toEqual(isQuick ? ["recovered_speed"] : []);
      expect(quick(story)).toEqual(isQuick ? [] : ["recovered_speed"]);
    }
  });
});

describe("after the reason has ended", () => {
  it("the monitor is checked at once, and the notice is sent if it is still down", () => {
    const story = begin({ repeatMs: 600_000 });
    const startedAt = story.now;
    notice(story, story.check("eu", "down"), DEPENDENCY);
    story.wait(55);
    const first = notice(story, story.check("eu", "down", { tookMs: 50 }), FREE);
    expect(first).toMatchObject({ sent: [], rechecks: [{ location: "eu", at: story.now + 1_000 }] });
    story.wait(1.1);
    const second = notice(story, story.check("eu", "down", { tookMs: 100, isRecheck: true }), FREE);
    expect(second.notices).toMatchObject([
      { kind: "down", at: story.now, startedAt, previous: "up", isNotice: true, failing: [{ location: "eu" }] },
    ]);
    expect(second.rechecks).toEqual([]);
    expect(story.state).toMatchObject({ silenced: null, remindAt: story.now + 600_000 });
    expect(notice(story, story.check("eu", "up"), FREE).sent).toEqual(["up!"]);
  });

  it("a check that gives no verdict is repeated for a minute", () => {
    const story = begin({ intervalMs: 86_400_000 });
    notice(story, story.check("eu", "down"), MAINTENANCE);
    story.wait(10);
    expect(notice(story, story.expire(), FREE).rechecks).toHaveLength(1);
    for (let lost = 0; lost < 60; lost++) {
      story.wait(1);
      expect(notice(story, story.check("eu", "unknown", { isRecheck: true }), FREE)).toMatchObject({
        sent: [],
        rechecks: [{ location: "eu", at: story.now + 1_000 }],
      });
    }
    story.wait(1);
    expect(notice(story, story.check("eu", "unknown", { isRecheck: true }), FREE).rechecks).toEqual([]);
    expect(notice(story, story.check("eu", "down"), FREE).sent).toEqual(["down!"]);
  });

  it("a check that began before it confirms nothing", () => {
    const story = begin();
    notice(story, story.check("eu", "down"), MAINTENANCE);
    story.wait(10);
    notice(story, story.expire(), FREE);
    story.wait(1);
    expect(notice(story, story.check("eu", "down", { tookMs: 1_001 }), FREE).sent).toEqual([]);
    expect(notice(story, story.check("eu", "down"), FREE).sent).toEqual(["down!"]);
  });

  it("the notice is dropped if the monitor recovers first", () => {
    const story = begin();
    notice(story, story.check("eu", "down"), DEPENDENCY);
    expect(notice(story, story.expire(), FREE).sent).toEqual([]);
    story.wait(1);
    expect(notice(story, story.check("eu", "up", { isRecheck: true }), FREE).sent).toEqual([]);
    expect(story.state.silenced).toBeNull();
  });

  it("a quorum of the locations must fail again", () => {
    const story = tellOfUp();
    notice(story, story.check("eu", "down"), MAINTENANCE);
    notice(story, story.check("us", "down"), MAINTENANCE);
    notice(story, story.check("ap", "down"), MAINTENANCE);
    story.wait(20);
    const { rechecks } = notice(story, story.expire(), FREE);
    expect(rechecks.map(({ location }) => location)).toEqual(["eu", "us", "ap"]);
    story.wait(1);
    expect(notice(story, story.check("eu", "down", { isRecheck: true }), FREE).sent).toEqual([]);
    expect(notice(story, story.check("us", "down", { isRecheck: true }), FREE).sent).toEqual(["down!"]);
  });

  it("another reason keeps the notice silenced", () => {
    const story = begin();
    notice(story, story.check("eu", "down"), MAINTENANCE);
    notice(story, story.check("eu", "down"), DEPENDENCY);
    expect(story.state.silenced).toMatchObject({ reason: "dependency", endedAt: null });
    notice(story, story.expire(), FREE);
    expect(story.state.silenced).toMatchObject({ endedAt: story.now });
    notice(story, story.expire(), MAINTENANCE);
    expect(story.state.silenced).toMatchObject({ reason: "maintenance", endedAt: null });
    story.wait(30);
    expect(notice(story, story.check("eu", "down"), FREE).sent).toEqual([]);
  });

  it("one fresh location of several confirms nothing: the notice waits while the status is unknown", () => {
    const story = tellOfUp();
    notice(story, story.check("eu", "down"), MAINTENANCE);
    notice(story, story.check("us", "down"), MAINTENANCE);
    notice(story, story.expire(), FREE);
    story.wait(200);
    expect(notice(story, story.check("us", "down"), FREE).sent).toEqual([]);
    expect(story.state).toMatchObject({ status: "unknown", silenced: { reason: "maintenance" } });
    expect(notice(story, story.check("eu", "down"), FREE).sent).toEqual(["down!"]);
  });

  it("the notice waits while nothing is fresh", () => {
    const story = begin();
    notice(story, story.check("eu", "down"), MAINTENANCE);
    notice(story, story.expire(), FREE);
    story.wait(600);
    expect(notice(story, story.expire(), FREE).sent).toEqual([]);
    expect(story.state.silenced).not.toBeNull();
    expect(notice(story, story.check("eu", "down"), FREE).sent).toEqual(["down!"]);
  });
});

describe("while the dependency may be about to be confirmed", () => {
  const FAILING: SilenceContext = { maintenance: false, dependency: "failing" };
  const DUE: SilenceContext = { maintenance: false, dependency: "due" };

  it("a new notice waits, and the monitor is looked at again", () => {
    const story = begin();
    const first = notice(story, story.check("eu", "down"), FAILING);
    expect(first).toMatchObject({ sent: [], rechecks: [{ location: "eu", at: story.now + 2_000 }] });
    expect(story.state.silenced).toEqual({ reason: "undecided", previous: "up", silencedAt: story.now });
  });

  it("keeps it silenced if the dependency is down, and sends it if that one recovers first", () => {
    const story = begin();
    notice(story, story.check("eu", "down"), DUE);
    story.wait(2);
    expect(notice(story, story.check("eu", "down", { isRecheck: true }), DEPENDENCY).sent).toEqual([]);
    expect(story.state.silenced).toEqual({ reason: "dependency", previous: "up", endedAt: null });
    story.wait(60);
    notice(story, story.check("eu", "down"), FREE);
    story.wait(1);
    expect(notice(story, story.check("eu", "down", { isRecheck: true }), FREE).sent).toEqual(["down!"]);
  });

  it("sends it at once if the dependency turns out to be up", () => {
    const story = begin({ repeatMs: 600_000 });
    const startedAt = story.now;
    notice(story, story.check("eu", "down"), FAILING);
    story.wait(2);
    const released = notice(story, story.check("eu", "down", { isRecheck: true }), FREE);
    expect(released.notices).toMatchObject([
      { kind: "down", startedAt, previous: "up", failing: [{ location: "eu" }] },
    ]);
    expect(story.state).toMatchObject({ silenced: null, remindAt: story.now + 600_000 });
    expect(notice(story, story.check("eu", "up"), FREE).sent).toEqual(["up!"]);
  });

  it.each([
    ["fails", FAILING, 60],
    ["is due", DUE, 15],
  ] as const)("waits for a limited time if the dependency %s without end", (_, context, seconds) => {
    const story = begin();
    notice(story, story.check("eu", "down"), context);
    for (let waited = 2; waited < seconds; waited += 2) {
      story.wait(2);
      const looked = notice(story, story.check("eu", "down", { isRecheck: true }), context);
      expect(looked).toMatchObject({ sent: [], rechecks: [{ location: "eu", at: story.now + 2_000 }] });
    }
    story.wait(2);
    expect(notice(story, story.check("eu", "down", { isRecheck: true }), context).sent).toEqual(["down!"]);
  });

  it("sends it also if probes fail in the meantime, or the clock is set back", () => {
    for (const seconds of [600, -600]) {
      const story = begin();
      notice(story, story.check("eu", "down"), FAILING);
      story.wait(seconds);
      expect(notice(story, story.expire(), FAILING).sent).toEqual(["down!"]);
    }
  });

  it("drops it, and its end, if the monitor recovers first", () => {
    const story = begin();
    notice(story, story.check("eu", "down"), FAILING);
    story.wait(2);
    expect(notice(story, story.check("eu", "up", { isRecheck: true }), FAILING).sent).toEqual([]);
    expect(story.state.silenced).toBeNull();
  });
});
