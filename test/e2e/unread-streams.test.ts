import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ok } from "#shared/contracts/outcome.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { keepAlive, progressOf, portsOutcome } from "#test/support/measurements.ts";
import { attachScripted, helloOf, type ScriptedAgent } from "#test/support/scripted-agent.ts";

/** Together they send more progress than the kernel buffers for a connection. */
const AGENTS = 12;
const PROGRESS = { text: "x".repeat(1_000) };

let plane: TestControlPlane;
let key: string;
let agents: ScriptedAgent[] = [];

beforeAll(async () => {
  plane = await startControlPlane();
  key = await plane.createKey();
  agents = await Promise.all(Array.from({ length: AGENTS }, () => attachScripted(plane, helloOf("noisy"))));
  for (const agent of agents) keepAlive(agent);
});
afterAll(async () => {
  for (const agent of agents) agent.cut();
  await plane.stop();
});

const cancelled = ({ messages }: ScriptedAgent): boolean => messages.some(({ body }) => body?.$case === "cancel");

async function dropped(reason: string): Promise<number> {
  const text = await plane.app.metrics.registry.metrics();
  return Number(
    new RegExp(`^vantage_agent_messages_dropped_total\\{reason="${reason}"\\} (\\d+)`, "m").exec(text)?.[1] ?? 0,
  );
}

describe("a caller that opens an event stream and does not read it", () => {
  it("gets a reason at the end of what it has read, and its checks are cancelled", async () => {
    const { hostname, port } = new URL(plane.url);
    const caller = connect(Number(port), hostname);
    let text = "";
    caller.on("data", (chunk: Buffer) => (text += chunk.toString("latin1"))).pause();
    caller.write(
      `GET /api/v4/ping?host=127.0.0.1&action=ports&ports=80&locations=noisy:${AGENTS} HTTP/1.1\r\nHost: x\r\n` +
        `X-API-Key: ${key}\r\nAccept: text/event-stream\r\n\r\n`,
    );
    await Promise.all(
      agents.map(async (agent) => {
        const job = await agent.nextJob();
        agent.accept(job);
        for (let n = 0; n < 900; n += 1) agent.send(progressOf(job, PROGRESS));
      }),
    );
    await expect.poll(() => agents.every(cancelled)).toBe(true);
    caller.resume();
    await new Promise((resolve) => caller.once("close", resolve));
    expect(text).toMatch(/event: done\ndata: \{"error":\{"code":"rate_limit_exceeded".*"reason":"slow_reader"\}.*\n\n/);
    expect(text).not.toContain("event: result");
  });
});

describe("an agent that sends more than a job is allowed to", () => {
  it("has the excess dropped, and its result counts", async () => {
    const agent = await attachScripted(plane, helloOf("chatty"));
    keepAlive(agent);
    const before = await dropped("excess");
    const answer = plane.call("/api/v4/ping?host=127.0.0.1&action=ports&ports=80&locations=chatty", {
      key,
      headers: { accept: "text/event-stream" },
    });
    const job = await agent.nextJob();
    for (let n = 0; n < 3; n += 1) agent.accept(job);
    for (let n = 0; n < 1_200; n += 1) agent.send(progressOf(job, { n }));
    agent.answer(job, portsOutcome());
    const { text } = await answer;
    expect(text.match(/^event: probe$/gm)).toHaveLength(1);
    expect(text.match(/^event: progress$/gm)).toHaveLength(1_000);
    expect(text).toMatch(/event: done\ndata: \{"data":/);
    expect(await dropped("excess")).toBe(before + 200);
    agent.cut();
  });

  it("does no harm with JSON that is nested too deeply to be serialized", async () => {
    const agent = await attachScripted(plane, helloOf("deep"));
    keepAlive(agent);
    const answer = plane.call("/api/v4/ping?host=127.0.0.1&action=ports&ports=80&locations=deep", {
      key,
      headers: { accept: "text/event-stream" },
    });
    const job = await agent.nextJob();
    const nested = "[".repeat(8_000) + "]".repeat(8_000);
    const { jobId, attempt } = job;
    agent.send({ body: { $case: "progress", value: { jobId, attempt, kind: "x", data: nested } } });
    const outcome = JSON.stringify(ok({ nested: 0 })).replace("0", nested);
    agent.send({ body: { $case: "result", value: { jobId, attempt, outcome, durationMs: 1 } } });
    const { text } = await answer;
    expect(text).not.toContain("event: progress");
    expect(text).toContain("nested too deeply");
    agent.cut();
  });

  it("loses its stream if it continues with messages that are dropped", async () => {
    const agent = await attachScripted(plane, helloOf("flood"));
    const value = { jobId: "none", attempt: 1, kind: "x", data: "{}" };
    for (let n = 0; n < 6_000; n += 1) agent.send({ body: { $case: "progress", value } });
    await agent.ended;
    expect(agent.messages.at(-1)?.body).toMatchObject({ $case: "rejected", value: { reason: "flood", retry: true } });
    expect(await plane.app.metrics.registry.metrics()).toContain('vantage_agents_detached_total{reason="flood"} 1');
  });
});
