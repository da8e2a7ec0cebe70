import { describe, expect, it } from "vitest";
import { rebalance, shareCredits } from "#probe-agent/attachment/credit-grants.ts";

const idle = { running: 0, waiting: 0 };

describe("one pool over all streams", () => {
  it.each([
    ["nobody asks", 200, [], []],
    ["one stream has it all", 200, [idle], [200]],
    ["quiet streams have even headroom", 200, [idle, idle, idle], [67, 67, 66]],
    ["the rest goes where jobs wait", 200, [{ running: 10, waiting: 500 }, idle], [190, 10]],
    [
      "two that want everything share alike",
      200,
      [
        { running: 200, waiting: 9 },
        { running: 0, waiting: 400 },
      ],
      [100, 100],
    ],
    [
      "a small demand is met in full before a large one",
      200,
      [
        { running: 20, waiting: 20 },
        { running: 0, waiting: 900 },
      ],
      [40, 160],
    ],
    [
      "a 1.0 hub, which never says what waits, grows by what it runs",
      200,
      [{ running: 100, waiting: 0 }, idle],
      [145, 55],
    ],
    ["an odd job left over is somebody's", 3, [idle, idle], [2, 1]],
    ["more streams than jobs: who wants one gets it", 1, [idle, { running: 0, waiting: 1 }, idle], [0, 1, 0]],
    ["more streams than jobs and nobody wants one: the oldest", 1, [idle, idle], [1, 0]],
  ])("%s", (_why, maxJobs, streams, expected) => {
    expect(shareCredits(maxJobs, streams)).toEqual(expected);
  });

  it("grants exactly the pool, and something to every stream if there is enough, for any demand", () => {
    for (let seed = 1; seed < 2_000; seed += 1) {
      const next = (below: number, salt: number) => (seed * 7_919 + salt * 104_729) % below;
      const maxJobs = 1 + next(300, 1);
      const streams = Array.from({ length: 1 + next(9, 2) }, (_, index) => ({
        running: next(maxJobs + 1, index + 3),
        waiting: next(500, index + 20),
      }));
      const shares = shareCredits(maxJobs, streams);
      expect(shares.reduce((total, share) => total + share, 0)).toBe(maxJobs);
      if (maxJobs >= streams.length) expect(Math.min(...shares)).toBeGreaterThanOrEqual(1);
    }
  });
});

describe("a message between two heartbeats", () => {
  it("is sent if a stream is short of credits and another does not use its own", () => {
    const streams = [
      { running: 100, waiting: 30, granted: 100 },
      { running: 3, waiting: 0, granted: 100 },
    ];
    expect(rebalance(200, streams)).toEqual([160, 40]);
  });

  it("is sent if more is granted than exists, because a stream was added", () => {
    expect(
      rebalance(200, [
        { running: 200, waiting: 0, granted: 200 },
        { ...idle, granted: 100 },
      ]),
    ).toEqual([190, 10]);
  });

  it("is not sent for a change without benefit", () => {
    expect(
      rebalance(200, [
        { running: 60, waiting: 0, granted: 100 },
        { ...idle, granted: 100 },
      ]),
    ).toBeNull();
    const full = { running: 100, waiting: 50, granted: 100 };
    expect(rebalance(200, [full, full])).toBeNull();
  });
});
