import { describe, expect, it } from "vitest";
import { spreadRetry, createPacer, type Pacer } from "#control-plane/checks/target-pacer.ts";
import { createManualClock } from "#test/support/clock.ts";

const start = new Date("2026-01-01T00:00:00Z");

/** Begins a job that must have room. */
function mustBegin(pacer: Pacer, target: string): () => void {
  const turn = pacer.tryBegin(target);
  if (turn.kind !== "begun") throw new Error("there is no room");
  return turn.done;
}

describe("jobs that are postponed", () => {
  it("try again one after the other, as fast as jobs of the target end", () => {
    const clock = createManualClock(start);
    const pacer = createPacer(clock, 2);
    const done = [mustBegin(pacer, "a"), mustBegin(pacer, "a")];
    const waits = Array.from({ length: 4 }, () => pacer.tryBegin("a"));
    expect(waits).toEqual([350, 450, 550, 650].map((retryAfterMs) => ({ kind: "postponed", retryAfterMs })));
    clock.advance(2_200);
    for (const end of done) end();
    mustBegin(pacer, "a");
  });

  it("do not hold up other targets", () => {
    const pacer = createPacer(createManualClock(start), 1);
    mustBegin(pacer, "a");
    mustBegin(pacer, "b");
    expect(pacer.tryBegin("a").kind).toBe("postponed");
  });

  it("end once: a second call of done frees no further room", () => {
    const pacer = createPacer(createManualClock(start), 2);
    const done = mustBegin(pacer, "a");
    mustBegin(pacer, "a");
    done();
    done();
    mustBegin(pacer, "a");
    expect(pacer.tryBegin("a").kind).toBe("postponed");
  });
});

describe("jobs that wait and jobs that are postponed at one target", () => {
  it("get half of the room each", async () => {
    const pacer = createPacer(createManualClock(start), 4);
    const batch = await Promise.all(Array.from({ length: 4 }, () => pacer.begin("a")));
    let later = 0;
    for (let n = 0; n < 3; n += 1) void pacer.begin("a").then(() => (later += 1));
    // A monitor comes while the batch has all the room: from now on the batch keeps half.
    expect(pacer.tryBegin("a").kind).toBe("postponed");
    batch[0]?.();
    batch[1]?.();
    await Promise.resolve();
    expect(later).toBe(0);
    mustBegin(pacer, "a");
    mustBegin(pacer, "a");
    expect(pacer.tryBegin("a").kind).toBe("postponed");
    batch[2]?.();
    await Promise.resolve();
    await Promise.resolve();
    expect(later).toBe(1);
  });

  it("leave all the room to those that wait once no monitor is about to try again", async () => {
    const clock = createManualClock(start);
    const pacer = createPacer(clock, 2);
    const [first] = await Promise.all([pacer.begin("a"), pacer.begin("a")]);
    expect(pacer.tryBegin("a").kind).toBe("postponed");
    clock.advance(60_000);
    let begun = false;
    void pacer.begin("a").then(() => (begun = true));
    first?.();
    await Promise.resolve();
    await Promise.resolve();
    expect(begun).toBe(true);
  });
});

describe("the time of another attempt", () => {
  it("is at most 15 s away, however many wait, and those beyond are spread over the second half", () => {
    let last = 0;
    const times: number[] = [];
    for (let n = 0; n < 2_000; n += 1) {
      last = spreadRetry(last, 0, 20);
      times.push(last);
    }
    expect(Math.min(...times)).toBe(270);
    expect(Math.max(...times)).toBeLessThanOrEqual(15_000);
    expect(times.slice(1_000).every((time) => time >= 7_500)).toBe(true);
    expect(new Set(times.slice(1_000)).size).toBeGreaterThan(300);
  });
});
