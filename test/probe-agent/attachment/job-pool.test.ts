import { createServer, type AddressInfo, type Server } from "node:net";
import { once } from "node:events";
import { pino } from "pino";
import { Registry } from "prom-client";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { AgentMessage } from "#shared/protocol/probe.ts";
import { ping } from "#shared/tools/ping/contract.ts";
import { parseParams } from "#shared/schema/schema.ts";
import { createJobPool } from "#probe-agent/attachment/job-pool.ts";
import { createAgentMetrics } from "#probe-agent/metrics/agent-metrics.ts";
import { systemClock } from "#test/support/clock.ts";
import { jobLimits } from "#test/support/net.ts";
import { netFactory } from "#test/support/tool.ts";

let target: Server;
let params: string;

beforeAll(async () => {
  target = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
  await once(target, "listening");
  const { port } = target.address() as AddressInfo;
  const given = { host: "127.0.0.1", protocol: "tcp", port, count: 2, interval_ms: 100 };
  const parsed = parseParams(ping.params, given, { from: "json", unknown: "refuse" });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problem));
  params = JSON.stringify(parsed.value);
});
afterAll(() => target.close());

/** Runs one ping of at most a minute, whose preparation takes some time, and returns the messages up to its result. */
function runPing(quiet: boolean, preparationMs = 0): Promise<AgentMessage[]> {
  const createNet = netFactory();
  // Time passes only while the job is prepared.
  let now = 0;
  return new Promise((resolve) => {
    const pool = createJobPool({
      maxJobs: 1,
      clock: { ...systemClock, monotonic: () => now },
      createNet(...given) {
        now += preparationMs;
        return createNet(jobLimits(60_000, given[0].signal), given[1], given[2]);
      },
      correctSource: (failure) => Promise.resolve(failure),
      loop: { start: () => () => 0 },
      onLate: () => {},
      metrics: createAgentMetrics(new Registry()),
      log: pino({ level: "silent" }),
      onChange: () => {},
    });
    const sent: AgentMessage[] = [];
    const job = { jobId: "one", attempt: 1, tool: "ping", params, deadlineMs: 60_000, timeMs: Date.now() };
    pool.accept(
      { ...job, leaseMs: 4_000, input: "", account: "", quiet },
      {
        say(message) {
          sent.push(message);
          if (message.body?.$case === "result") resolve(sent);
        },
        sayInTurn: () => Promise.resolve(),
      },
    );
  });
}

function outcomeOf(message: AgentMessage | undefined): unknown {
  if (message?.body?.$case !== "result") throw new Error(`expected a result, got ${message?.body?.$case}`);
  return JSON.parse(message.body.value.outcome);
}

it("a job that a client follows is accepted and sends its progress and then its result", async () => {
  const cases = (await runPing(false)).map(({ body }) => body?.$case);
  expect(cases).toEqual(["accepted", "progress", "progress", "result"]);
});

it("a quiet job sends only its result", async () => {
  const [only, ...more] = await runPing(true);
  expect(more).toEqual([]);
  expect(outcomeOf(only)).toMatchObject({ status: "ok", data: { packets_received: 2 } });
});

it("the time to load code and to wake the ICMP process is not part of a job's duration", async () => {
  const [only] = await runPing(true, 20_000);
  expect(only?.body).toMatchObject({ $case: "result", value: { durationMs: 0 } });
  expect(outcomeOf(only)).toMatchObject({ status: "ok" });
});

it("a preparation that takes most of a job's time is the probe's failure, and the job can run elsewhere", async () => {
  const [only] = await runPing(true, 31_000);
  const overload = { status: "failed", source: "probe", reason: "probe_overloaded", repeatable: true };
  expect(outcomeOf(only)).toMatchObject(overload);
});
