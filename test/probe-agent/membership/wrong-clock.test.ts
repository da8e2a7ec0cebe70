import { existsSync } from "node:fs";
import { arch } from "node:process";
import { afterAll, beforeAll, expect, it } from "vitest";
import { SILENT_MS } from "#shared/protocol/wire.ts";
import { startHttpServer, type HttpServer } from "#test/servers/http.ts";
import { startAgent, type AgentProcess } from "#test/support/agent-process.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { heardFrom } from "#test/support/heard-from.ts";

const LIBRARY = `/usr/lib/${arch === "arm64" ? "aarch64" : "x86_64"}-linux-gnu/faketime/libfaketimeMT.so.1`;
const missing = !existsSync(LIBRARY);
if (missing) console.log("skipped: agents whose clock is wrong: libfaketime is not installed");

let plane: TestControlPlane;
let web: HttpServer;
let key: string;
const agents: AgentProcess[] = [];

beforeAll(async () => {
  plane = await startControlPlane();
  web = await startHttpServer();
  key = await plane.createKey();
});
afterAll(async () => {
  await Promise.all(agents.map((agent) => agent.stop()));
  await web.close();
  await plane.stop();
});

it.skipIf(missing).each([
  ["ahead", "+1h", 1],
  ["behind", "-1h", -1],
])("an agent whose clock is an hour %s enrols, stays attached and answers in time", async (_way, offset, hours) => {
  const region = `clock${offset.replace("+", "")}`;
  const agent = await startAgent(plane, region, {
    LD_PRELOAD: LIBRARY,
    FAKETIME: offset,
    // Only the wall clock is wrong.
    FAKETIME_DONT_FAKE_MONOTONIC: "1",
    DONT_FAKE_MONOTONIC: "1",
  });
  agents.push(agent);
  // The clock is really wrong: the agent's log has its times.
  const logged = Date.parse(/"time":"([^"]+)"/.exec(agent.log())?.[1] ?? "");
  const here = Date.now();
  expect(Math.round((logged - here) / 3_600_000)).toBe(hours);
  for (let call = 0; call < 3; call += 1) {
    const answer = await plane.call(`/api/v4/check?url=${web.url}/?${call}&locations=${region}`, { key });
    expect(answer.body.data).toMatchObject({ summary: { total: 1, ok: 1 } });
    await heardFrom(plane, region, SILENT_MS / 2);
  }
  expect(agent.log()).not.toContain("control plane lost");
});
