import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { LOG_LIMITS } from "#shared/protocol/wire.ts";
import { startLocalHub, type LocalHub } from "#test/control-plane/checks/dispatch/local-hub.ts";
import { attachAgent, type AttachedAgent } from "#test/support/attached-agent.ts";
import { helloOf } from "#test/support/scripted-agent.ts";

let local: LocalHub;
let agent: AttachedAgent;

beforeEach(() => {
  local = startLocalHub();
  agent = attachAgent(local.hub, helloOf("eu", { sendsLog: true }));
});
afterEach(() => {
  vi.useRealTimers();
  local.hub.stop();
});

const read = () => local.hub.readLog(agent.id);
/** Returns the ids of the requests that the agent got. */
const asked = (): number[] =>
  agent.messages.flatMap(({ body }) => (body?.$case === "logRequest" ? [body.value.requestId] : []));
const send = (requestId: number, lines: string[], last = true): void =>
  agent.send({ body: { $case: "logLines", value: { requestId, lines, last } } });
const dropped = async () => (await local.figures("vantage_agent_messages_dropped_total"))["log"];

describe("the log of an agent", () => {
  it("is what it sends in all parts, in order; calls at the same time share the request", async () => {
    const answers = Promise.all([read(), read()]);
    expect(asked()).toEqual([1]);
    send(1, ["a", "b"], false);
    send(1, ["c"]);
    const answer = { ok: true, lines: ["a", "b", "c"] };
    expect(await answers).toEqual([answer, answer]);
    const next = read();
    send(2, []);
    expect(await next).toEqual({ ok: true, lines: [] });
  });

  it("is asked of an agent that is disabled or drains", async () => {
    agent.drain();
    local.hub.applyEnrolment(agent.id, { agentId: agent.id, region: "eu", accountId: null, enabled: false });
    const answer = read();
    send(1, ["still here"]);
    expect(await answer).toEqual({ ok: true, lines: ["still here"] });
  });

  it("cannot be had of an agent that is not attached, or whose hello does not say that it sends it", async () => {
    expect(await local.hub.readLog("agent-us")).toEqual({ ok: false, reason: "absent" });
    const older = attachAgent(local.hub, helloOf("us", { protocol: { major: 1, minor: 1 } }));
    expect(await local.hub.readLog(older.id)).toEqual({ ok: false, reason: "unsupported" });
    expect(older.messages.map(({ body }) => body?.$case)).toEqual(["welcome"]);
  });

  it("is not waited for longer than 5 s, and what comes later does not answer the next request", async () => {
    vi.useFakeTimers();
    const first = read();
    send(1, ["slow"], false);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await first).toEqual({ ok: false, reason: "silent" });
    const second = read();
    send(1, ["late"]);
    send(2, ["in time"]);
    expect(await second).toEqual({ ok: true, lines: ["in time"] });
    expect(await dropped()).toBe(1);
  });

  it.each([
    [
      "lines",
      () =>
        send(
          1,
          Array.from({ length: LOG_LIMITS.lines + 1 }, () => ""),
        ),
    ],
    ["characters", () => send(1, ["x".repeat(LOG_LIMITS.characters + 1)])],
    ["empty parts", () => send(1, [], false)],
    [
      "parts",
      () => {
        for (let part = 0; part <= LOG_LIMITS.lines; part += 1) send(1, ["x"], false);
      },
    ],
  ])("is refused if the agent sends too many %s", async (_what, attack) => {
    const answer = read();
    attack();
    expect(await answer).toEqual({ ok: false, reason: "invalid" });
    expect(await dropped()).toBe(1);
    expect(local.lines.filter(({ msg }) => String(msg).startsWith("agent sent lines of its log"))).toHaveLength(1);
  });

  it("that nobody asked for is ignored, and an agent that goes on is disconnected", async () => {
    send(1, ["unasked"]);
    expect(await dropped()).toBe(1);
    for (let message = 0; message < 5_000; message += 1) send(message, ["unasked"]);
    expect(agent.closed).toBe(true);
  });

  it("has short lines without hidden characters", async () => {
    const answer = read();
    send(1, ["\u001b[2J\u202eevil\n", "\u0007".repeat(LOG_LIMITS.lineCharacters), "y".repeat(9_000)]);
    const got = await answer;
    const [hidden, ...long] = got.ok ? got.lines : [];
    expect(hidden).toBe("\\u001b[2J\\u202eevil\\n");
    expect(long.map(({ length }) => length)).toEqual([LOG_LIMITS.lineCharacters, LOG_LIMITS.lineCharacters]);
  });

  it.each([
    ["the stream ends", () => agent.cut()],
    ["a new stream replaces it", () => void attachAgent(local.hub, helloOf("eu", { sendsLog: true }))],
    ["the hub stops", () => local.hub.stop()],
  ])("is lost if %s", async (_when, lose) => {
    const answer = read();
    lose();
    expect(await answer).toEqual({ ok: false, reason: "lost" });
  });
});
