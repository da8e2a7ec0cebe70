import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { failed } from "#shared/contracts/outcome.ts";
import { startHttpServer, type HttpServer } from "#test/servers/http.ts";
import { spawnAgent, startAgent } from "#test/support/agent-process.ts";
import { createManualClock } from "#test/support/clock.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { attachScripted, helloOf } from "#test/support/scripted-agent.ts";

let plane: TestControlPlane;
let web: HttpServer;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "vantage-abuse-"));
  // A clock that does not advance, so that the budget's minute does not end during the test.
  const clock = createManualClock(new Date());
  plane = await startControlPlane({ config: { targetBudget: 2 }, overrides: { clock } });
  web = await startHttpServer();
});

afterAll(async () => {
  await plane.stop();
  await web.close();
  rmSync(folder, { recursive: true, force: true });
});

it("a target above its limit of this minute is 429 for every account, with the reason and Retry-After", async () => {
  const agent = await attachScripted(plane, helloOf("eu-west"));
  const call = async (host: string) =>
    plane.call(`/api/v4/check?url=https://${host}/`, { key: await plane.createKey() });
  const checked = async (host: string) => {
    const answer = call(host);
    agent.answer(await agent.nextJob(), failed("connect", "target", "refused", "nothing listens"));
    return (await answer).status;
  };
  expect([await checked("www.example.com"), await checked("example.com")]).toEqual([502, 502]);
  const { status, headers, body } = await call("api.example.com");
  expect(status).toBe(429);
  expect(body.error).toMatchObject({ code: "rate_limit_exceeded", reason: "target_budget" });
  expect(Number(headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  expect(await checked("example.org")).toBe(502);
  agent.cut();
});

describe("an agent with an opt-out list", () => {
  it("refuses targets on the list that its allow list has, without the control plane's knowledge", async () => {
    const path = join(folder, "opt-out");
    writeFileSync(path, "# test\n127.0.0.0/8\n");
    const agent = await startAgent(plane, "opted", { VANTAGE_OPT_OUT_FILE: path });
    const { status, body } = await plane.call(`/api/v4/check?url=${web.url}/&locations=opted`, {
      key: await plane.createKey(),
    });
    await agent.stop();
    expect(body.error).toMatchObject({ code: "target_not_allowed" });
    expect(status).toBe(400);
  });

  it("does not start with an invalid line and names the line", async () => {
    const path = join(folder, "bad");
    writeFileSync(path, "fine.example\nhttp://not.example/\n");
    const agent = spawnAgent({ VANTAGE_OPT_OUT_FILE: path });
    expect(await agent.exited).toBe(1);
    expect(agent.log()).toContain(`VANTAGE_OPT_OUT_FILE ${path}, line 2`);
    await agent.stop();
  });
});
