import { afterAll, describe, expect, it } from "vitest";
import { startControlPlane } from "#test/support/control-plane.ts";
import { COOKIE, signInOwner } from "#test/support/dashboard.ts";
import { attachScripted, helloOf } from "#test/support/scripted-agent.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const plane = await stopAfterAll(startControlPlane());
const agent = await attachScripted(plane, helloOf("eu-west"));
const { browser: owner } = await signInOwner(plane);

afterAll(async () => {
  agent.cut();
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
