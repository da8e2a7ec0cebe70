import { pino } from "pino";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createShutdown } from "#probe-agent/attachment/shutdown.ts";

let lines: string;
let steps: string[];
let jobs: PromiseWithResolvers<void>;
let running: number;
let shutDown: (reason: string) => Promise<void>;

beforeEach(() => {
  vi.useFakeTimers();
  [lines, steps, running] = ["", [], 1];
  jobs = Promise.withResolvers();
  shutDown = createShutdown({
    drain: () => {
      steps.push("drain");
      return jobs.promise;
    },
    drainMs: 30_000,
    running: () => running,
    close: () => Promise.resolve(steps.push("close")),
    log: pino({ level: "info" }, { write: (line) => void (lines += line) }),
  });
});
afterEach(() => {
  vi.useRealTimers();
});

it("waits for the running jobs, then closes everything", async () => {
  const ended = shutDown("SIGTERM");
  await vi.advanceTimersByTimeAsync(20_000);
  expect(steps).toEqual(["drain"]);
  running = 0;
  jobs.resolve();
  await ended;
  expect(steps).toEqual(["drain", "close"]);
  expect(lines).toContain("agent draining");
  expect(lines).not.toContain("jobs still run");
});

it("closes everything after 30 s even if jobs still run, and logs it", async () => {
  const ended = shutDown("SIGTERM");
  await vi.advanceTimersByTimeAsync(30_000);
  await ended;
  expect(steps).toEqual(["drain", "close"]);
  expect(lines).toContain("jobs still running after 30 s");
});

it("happens once, even if it is requested several times", async () => {
  running = 0;
  jobs.resolve();
  await Promise.all([shutDown("SIGINT"), shutDown("SIGINT")]);
  expect(steps).toEqual(["drain", "close"]);
});
