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

/** Runs one ping and returns the agent's messages up to its result. */
function runPing(quiet: boolean): Promise<AgentMessage[]> {
  return new Promise((resolve) => {
    const pool = createJobPool({
      maxJobs: 1,
      clock: systemClock,
      createNet: netFactory(),
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

it("a job that a client follows is accepted and sends its progress and then its result", async () => {
  const cases = (await runPing(false)).map(({ body }) => body?.$case);
  expect(cases).toEqual(["accepted", "progress", "progress", "result"]);
});

it("a quiet job sends only its result", async () => {
  const [only, ...more] = await runPing(true);
  expect(more).toEqual([]);
  if (only?.body?.$case !== "result") throw new Error(`expected a result, got ${only?.body?.$case}`);
  expect(JSON.parse(only.body.value.outcome)).toMatchObject({ status: "ok", data: { packets_received: 2 } });
});
