import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { AgentMessage } from "#shared/protocol/probe.ts";
import { createCreditGrants, type CreditGrants } from "#probe-agent/attachment/credit-grants.ts";

/** A stream that keeps the credits of each heartbeat sent on it. */
class Recorder {
  readonly credits: number[] = [];
  say({ body }: AgentMessage): void {
    if (body?.$case === "beat") this.credits.push(body.value.credits);
  }
}

let running: Map<Recorder, number>;
let grants: CreditGrants<Recorder>;
let one: Recorder;
let two: Recorder;

beforeEach(() => {
  vi.useFakeTimers();
  running = new Map();
  [one, two] = [new Recorder(), new Recorder()];
  const all = () => [...running.values()].reduce((sum, count) => sum + count, 0);
  grants = createCreditGrants<Recorder>({
    maxJobs: 10,
    running: (stream) => (stream === undefined ? all() : (running.get(stream) ?? 0)),
    loopLagMs: () => 0,
  });
});
afterEach(() => {
  grants.stop();
  vi.useRealTimers();
});

describe("the credits of streams", () => {
  it("are the whole pool for one stream, and shared with a second, the reduction first", () => {
    const order: string[] = [];
    const named = (name: string) => ({ credits: [], say: () => order.push(name) });
    const [first, second] = [named("first"), named("second")];
    grants.add(first);
    grants.add(second);
    expect(order).toEqual(["first", "first", "second"]);
    expect([grants.beatOf(first).credits, grants.beatOf(second).credits, grants.total()]).toEqual([5, 5, 10]);
  });

  it("return to the others when a stream is lost", () => {
    grants.add(one);
    grants.add(two);
    grants.remove(two);
    expect(one.credits).toEqual([10, 5, 10]);
    expect(grants.streams()).toEqual([one]);
  });

  it("move to where jobs wait within 50 ms", () => {
    grants.add(one);
    grants.add(two);
    grants.setWaiting(one, 50);
    vi.advanceTimersByTime(50);
    expect([one.credits.at(-1), two.credits.at(-1)]).toEqual([9, 1]);
  });

  it("of a stream whose job was declined are sent again only when a place is free", () => {
    grants.add(one);
    running.set(one, 10);
    grants.holdBack(one);
    grants.jobsChanged();
    vi.advanceTimersByTime(50);
    expect(one.credits).toEqual([10]);
    running.set(one, 9);
    grants.jobsChanged();
    vi.advanceTimersByTime(50);
    expect(one.credits).toEqual([10, 10]);
  });

  it("start small in the hello of a second stream, but whole for a hub that takes them as a limit", () => {
    expect(grants.helloCredits(true)).toBe(10);
    grants.add(one);
    expect([grants.helloCredits(true), grants.helloCredits(false)]).toEqual([1, 10]);
  });

  it("are not counted for a stream that was never welcomed", () => {
    grants.holdBack(two);
    grants.setWaiting(two, 5);
    grants.remove(two);
    vi.advanceTimersByTime(2_000);
    expect([two.credits, grants.total(), grants.beatOf(two).credits]).toEqual([[], 0, 0]);
  });
});
