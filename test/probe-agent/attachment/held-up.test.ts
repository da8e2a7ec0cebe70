import { once } from "node:events";
import { createServer, type AddressInfo, type Server } from "node:net";
import { pino } from "pino";
import { Registry } from "prom-client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Outcome } from "#shared/contracts/outcome.ts";
import { outcomeError } from "#control-plane/checks/answer.ts";
import { readFinding } from "#control-plane/watching/checking/watch/observe.ts";
import { createJobPool } from "#probe-agent/attachment/job-pool.ts";
import { loadImplementation } from "#probe-agent/implementations.ts";
import { createLoopWatch, type LoopWatch } from "#probe-agent/loop-watch.ts";
import { createAgentMetrics } from "#probe-agent/metrics/agent-metrics.ts";
import { systemClock } from "#test/support/clock.ts";
import { netFactory } from "#test/support/tool.ts";

/** A target that accepts connections and never answers. */
let target: Server;
let url: string;
let asked: () => void = () => {};

beforeAll(async () => {
  // The time to load them is not that of a test.
  await Promise.all(["http-status", "monitor-http"].map(loadImplementation));
  target = createServer((socket) => socket.on("error", () => {}).once("data", () => asked())).listen(0, "127.0.0.1");
  await once(target, "listening");
  url = `http://127.0.0.1:${(target.address() as AddressInfo).port}/`;
});
afterAll(() => target.close());

/** Runs one job in an agent with the real network, and returns its outcome. */
function runJob(tool: string, params: object, loop: LoopWatch): Promise<Outcome<unknown>> {
  const pool = createJobPool({
    maxJobs: 1,
    clock: systemClock,
    createNet: netFactory(),
    correctSource: (failure) => Promise.resolve(failure),
    loop,
    onLate: () => {},
    metrics: createAgentMetrics(new Registry()),
    log: pino({ level: "silent" }),
    onChange: () => {},
  });
  const job = { jobId: "one", attempt: 1, tool, params: JSON.stringify(params), deadlineMs: 2_000, timeMs: 0 };
  return new Promise((resolve) => {
    pool.accept(
      { ...job, leaseMs: 4_000, input: "", account: "", quiet: true },
      {
        say({ body }) {
          if (body?.$case === "result") resolve(JSON.parse(body.value.outcome) as Outcome<unknown>);
        },
        sayInTurn: () => Promise.resolve(),
      },
    );
  });
}

/** Blocks this thread, and with it the agent's event loop. */
function holdUpLoop(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_500);
}

const MONITOR = {
  url: "",
  method: "GET",
  headers: [],
  body: null,
  follow: true,
  expected_codes: [200],
  keyword: null,
  keyword_mode: "present",
  json: null,
  timeout_seconds: 1,
  known: null,
  always_whole: false,
};

function verdictOf(outcome: Outcome<unknown>) {
  if (outcome.status !== "failed") throw new Error(JSON.stringify(outcome));
  const location = { probe_id: "p", region: "eu", country: "", city: "", asn: 0, latitude: null, longitude: null };
  const row = { location, duration_ms: 1, status: "failed", error: outcomeError(outcome) } as const;
  return readFinding({ kind: "multi", refused: false, data: { locations: [row], summary: {} } })?.verdict;
}

describe("a target that does not answer", () => {
  it("is to blame while the agent's event loop runs", async () => {
    const outcome = await runJob("http-status", { url }, { start: () => () => 0 });
    expect(outcome).toMatchObject({ status: "failed", source: "target", reason: "timeout" });
  });

  it("is not to blame when the agent's event loop was held up", async () => {
    asked = holdUpLoop;
    const outcome = await runJob("http-status", { url }, createLoopWatch(systemClock));
    expect(outcome).toMatchObject({ status: "failed", source: "probe", reason: "probe_overloaded", repeatable: true });
  });

  it("is not down for its monitor then", async () => {
    asked = () => {};
    const real = await runJob("monitor-http", { ...MONITOR, url }, { start: () => () => 0 });
    expect(real).toMatchObject({ source: "target", reason: "timeout" });
    expect(verdictOf(real)).toBe("down");
    asked = holdUpLoop;
    const outcome = await runJob("monitor-http", { ...MONITOR, url }, createLoopWatch(systemClock));
    expect(outcome).toMatchObject({ source: "probe", reason: "probe_overloaded" });
    expect(verdictOf(outcome)).toBe("unknown");
  });
});
