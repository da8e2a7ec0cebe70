import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BUILT_IN_PLANS } from "#control-plane/core/plans.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { freePort } from "#test/support/free-port.ts";
import { runVantage, type Ran } from "#test/shared/client/command-line.ts";
import { startStandInService, type StandInService } from "#test/support/stand-in-service.ts";
import { SOURCELESS } from "#test/support/stand-ins/outside.ts";

// The command against a real control plane with a real agent; the shop of the stand-ins is its internet.

let service: StandInService;
let key: string;
/** A control plane without a probe, whose plan free allows two calls a minute. */
let empty: TestControlPlane;
beforeAll(async () => {
  const plans = { ...BUILT_IN_PLANS, free: { ...BUILT_IN_PLANS.free, requestsPerMinute: 2 } };
  [service, empty] = await Promise.all([startStandInService(), startControlPlane({ plans })]);
  key = await service.plane.createKey();
});
afterAll(async () => {
  await Promise.all([service?.stop(), empty?.stop()]);
});

/** Runs a command line for the service with the agent, with a key of all scopes. */
function vantage(line: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<Ran> {
  return runVantage(line, { VANTAGE_BASE_URL: service.plane.url, VTG_API_KEY: key, ...more });
}

describe("the exit status of a tool", () => {
  const csp = () => ["csp", `${service.world.https}/`];

  it("is 0 for a good target, and stdout has the result", async () => {
    const ran = await vantage(["http-status", `${service.world.https}/`]);
    expect(ran).toMatchObject({ status: 0, complained: "" });
    expect(ran.said).toContain("200");
  });

  it("is 1 for a bad verdict, unless --fail-on is never", async () => {
    expect((await vantage(["mx", "shop.test"])).status).toBe(1);
    expect((await vantage(["mx", "shop.test", "--fail-on", "warning"])).status).toBe(1);
    const never = await vantage(["mx", "shop.test", "--fail-on", "never"]);
    expect(never).toMatchObject({ status: 0, complained: "" });
  });

  it("is 1 for a warning only with --fail-on warning", async () => {
    expect((await vantage(csp())).status).toBe(0);
    expect((await vantage([...csp(), "--fail-on", "warning"])).status).toBe(1);
    expect((await vantage([...csp(), "--fail-on", "never"])).status).toBe(0);
  });

  it("is 1 for a target that does not answer, by itself and from locations", async () => {
    const dead = ["check", `https://shop.test:${await freePort()}/`];
    for (const line of [dead, [...dead, "--from", "all"]]) {
      const ran = await vantage(line);
      expect(ran.status, line.join(" ")).toBe(1);
      expect(ran.said).toContain("request_failed");
      expect((await vantage([...line, "--fail-on", "never"])).status).toBe(0);
    }
  });

  it.each([
    ["an unknown option", ["ping", "shop.test", "--cuont", "2"], 2, /--cuont/],
    ["no target", ["ping"], 2, /missing required argument 'host'/],
    ["an unknown command", ["pong"], 2, /unknown command 'pong'/],
    ["a choice that is none", ["ping", "shop.test", "--fail-on", "all"], 2, /--fail-on/],
    ["a file that is not there", ["ping", "@/nonexistent/file"], 2, /\/nonexistent\/file cannot be read/],
    ["a value out of range", ["ping", "shop.test", "--count", "11"], 2, /: --count: must be between 1 and 10\.$/],
    ["a target that is not allowed", ["ping", "10.0.0.1"], 2, /not allowed/],
    ["an unknown location", ["ping", "shop.test", "--from", "atlantis"], 2, /: --from: .*atlantis/],
    ["a target that is none", ["ping", "a b"], 2, /: <host>: /],
    ["a wrong key", ["ping", "shop.test", "--key", "vtg_x"], 3, /invalid_api_key/],
    ["a service that fails", ["wayback", `https://${SOURCELESS}/`], 5, /request_failed/],
    ["a wrong setting", ["ping", "shop.test", "--base-url", "x"], 2, /VANTAGE_BASE_URL must be/],
    ["nobody at the address", ["ping", "shop.test", "--base-url", "http://127.0.0.1:1"], 5, /no control plane answers/],
  ] as const)("with %s has nothing on stdout: %j is %i", async (_, line, status, reason) => {
    const ran = await vantage(line);
    expect(ran).toMatchObject({ status, said: "" });
    expect(ran.complained).toMatch(reason);
    expect(ran.complained.split("\n").length).toBeLessThanOrEqual(2);
  });

  it("is 3 without a key, with a key that may not do this, and at a limit; 4 without a probe", async () => {
    const base = { VANTAGE_BASE_URL: empty.url };
    const without = await vantage(["ping", "shop.test"], { VTG_API_KEY: "" });
    expect(without).toEqual({ status: 3, said: "", complained: expect.stringContaining("VTG_API_KEY") });
    const free = { ...base, VTG_API_KEY: await empty.createKey("free") };
    const scope = await vantage(["ping", "example.com"], free);
    expect(scope).toEqual({ status: 3, said: "", complained: expect.stringContaining("insufficient_scope") });
    const captain = { ...base, VTG_API_KEY: await empty.createKey() };
    for (const line of [
      ["ping", "example.com"],
      ["ping", "example.com", "--from", "all"],
    ]) {
      const unavailable = await vantage(line, captain);
      expect(unavailable).toEqual({ status: 4, said: "", complained: expect.stringContaining("probe") });
    }
    await vantage(["check", "example.com"], free);
    const limited = await vantage(["check", "example.com"], free);
    expect(limited).toEqual({ status: 3, said: "", complained: expect.stringContaining("rate_limit_exceeded") });
  });

  it("is that of the same table for the commands of the operator", async () => {
    const admin = { VANTAGE_BASE_URL: service.plane.url, VANTAGE_DATA_DIR: "/nonexistent" };
    expect(await runVantage(["keys", "list"], admin)).toMatchObject({ status: 3, said: "" });
    const wrong = { ...admin, VANTAGE_ADMIN_TOKEN: "operator-token-of-somebody-else-0123456789" };
    expect(await runVantage(["keys", "list"], wrong)).toMatchObject({ status: 3, said: "" });
    expect(await runVantage(["keys", "drop"], admin)).toMatchObject({ status: 2, said: "" });
  });
});
