import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { COOKIE, signInOwner, type Browser } from "#test/support/dashboard.ts";
import { attachScripted, helloOf, type ScriptedAgent } from "#test/support/scripted-agent.ts";

let plane: TestControlPlane;
let agent: ScriptedAgent;
let owner: Browser;

beforeAll(async () => {
  plane = await startControlPlane();
  agent = await attachScripted(plane, helloOf("eu-west"));
  ({ browser: owner } = await signInOwner(plane));
});

afterAll(async () => {
  agent?.cut();
  await plane?.stop();
});

describe("a browser that goes away", () => {
  it.each([
    ["/app/monitors/paste", { lines: "https://a.example.com", do: "try" }],
    ["/app/monitors/new", { check_type: "http", url: "https://c.example.com", do: "try" }],
  ])("cancels the tries of %s", async (path, fields) => {
    const { csrf } = await owner.get("/app/monitors");
    const gone = new AbortController();
    const asked = fetch(`${plane.url}${path}`, {
      method: "POST",
      headers: { origin: plane.url, cookie: `${COOKIE}=${owner.cookie}` },
      body: new URLSearchParams({ ...fields, _csrf: csrf ?? "" }),
      signal: gone.signal,
    });
    const { jobId } = await agent.nextJob();
    gone.abort();
    await expect(asked).rejects.toThrow("abort");
    const cancelled = () => agent.messages.flatMap(({ body }) => (body?.$case === "cancel" ? [body.value.jobId] : []));
    await expect.poll(cancelled).toContain(jobId);
  });
});
