import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { failed, isOwnNetworkDown } from "#shared/contracts/outcome.ts";
import { createCanaries } from "#probe-agent/attachment/canaries.ts";
import { createInside } from "#probe-agent/attachment/serve.ts";
import { isNetworkGone, startSelfTest, type CanaryResults, type SelfTest } from "#probe-agent/attachment/self-test.ts";

const timeout = failed("connect", "target", "timeout", "no answer");
let now: number;
let looks: number;
let answers: CanaryResults;
let selfTest: SelfTest;

beforeEach(() => {
  now = 0;
  looks = 0;
  answers = { resolver: true, route: true, control_plane: null };
  selfTest = startSelfTest({
    canaries: {
      resolver: () => Promise.resolve(answers.resolver),
      route: () => Promise.resolve(answers.route),
      control_plane: () => Promise.resolve(answers.control_plane),
    },
    clock: { monotonic: () => now },
    onResults: () => (looks += 1),
  });
});
afterEach(() => selfTest.stop());

it.each([
  [{ resolver: false, route: false, control_plane: null }, true],
  [{ resolver: false, route: true, control_plane: null }, true],
  [{ resolver: false, route: true, control_plane: true }, true],
  [{ resolver: true, route: false, control_plane: null }, false],
])("%o: the agent's own network is down: %s", (results, gone) => {
  expect(isNetworkGone(results)).toBe(gone);
});

describe("a failure", () => {
  it("belongs to the target while the agent's network works", async () => {
    expect(await selfTest.correctSource(timeout, 1_000)).toEqual(timeout);
  });

  it("belongs to the probe if nothing answers, and keeps its reason", async () => {
    answers = { resolver: false, route: false, control_plane: null };
    const corrected = await selfTest.correctSource(timeout, 1_000);
    expect([isOwnNetworkDown(timeout), isOwnNetworkDown(corrected)]).toEqual([false, true]);
    expect(corrected).toMatchObject({
      source: "probe",
      stage: "connect",
      reason: "timeout",
      message: expect.stringContaining("probe's own network is down"),
    });
  });

  it("starts a new test if the last one is half a second old, one test for all concurrent failures", async () => {
    await selfTest.run();
    answers = { resolver: false, route: false, control_plane: null };
    now = 400;
    expect(await selfTest.correctSource(timeout, 1_000)).toEqual(timeout);
    now = 600;
    const both = await Promise.all([selfTest.correctSource(timeout, 1_000), selfTest.correctSource(timeout, 1_000)]);
    expect(both.map(({ source }) => source)).toEqual(["probe", "probe"]);
    expect(looks).toBe(2);
    expect(selfTest.ageSeconds()).toBe(0);
  });

  it("without time left uses the last result, which a late job has requested before", async () => {
    await selfTest.run();
    answers = { resolver: false, route: false, control_plane: null };
    now = 60_000;
    selfTest.prepare();
    await expect.poll(() => looks).toBe(2);
    expect(await selfTest.correctSource(timeout, -100)).toMatchObject({ source: "probe" });
  });

  it("belongs to the probe if only the control plane is reachable", async () => {
    answers = { resolver: false, route: true, control_plane: true };
    const lookup = failed("dns", "resolver", "timeout", "The resolver did not answer in time");
    expect(await selfTest.correctSource(lookup, 1_000)).toMatchObject({ source: "probe", reason: "timeout" });
    expect(await selfTest.correctSource(timeout, 1_000)).toMatchObject({ source: "probe", reason: "timeout" });
    answers = { resolver: true, route: true, control_plane: true };
    now = 10_000;
    expect(await selfTest.correctSource(lookup, 1_000)).toEqual(lookup);
  });

  it("of the probe itself is unchanged", async () => {
    const own = failed("request", "probe", "internal", "broken");
    expect(await selfTest.correctSource(own, 1_000)).toBe(own);
    expect(looks).toBe(0);
  });
});

describe("canaries", () => {
  const canariesWith = (status: string, server: string, attached: string[] = []) =>
    createCanaries({
      dns: () => ({ query: () => Promise.resolve({ status, server } as never) }),
      attachedAddresses: () => attached,
    });

  it.each([
    ["NOERROR", "127.0.0.53#53", true],
    ["REFUSED", "192.0.2.1#53", true],
    ["SERVFAIL", "127.0.0.53#53", false],
    ["TIMEOUT", "192.0.2.1#53", false],
  ])("a resolver that answers %s at %s shows that the network works: %s", async (status, server, speaks) => {
    expect(await canariesWith(status, server).resolver()).toBe(speaks);
  });

  it.each([
    [[], null],
    [["localhost:50051", "[::1]:50051", "127.0.0.1:50051"], null],
    [["dns:///hub.example:443"], true],
  ])("streams to %o show whether the network works: %s", async (attached, tells) => {
    expect(await canariesWith("NOERROR", "", attached).control_plane()).toBe(tells);
  });
});

it.each([
  ["check", { url: "http://10.1.2.3/" }, true],
  ["check", { url: "http://[fd00::1]:8080/" }, false],
  ["check", { url: "http://db.corp.example/" }, true],
  ["check", { url: "https://example.com/" }, false],
  ["ping", { host: "10.9.9.9" }, true],
  ["ping", { host: "192.0.2.1" }, false],
  ["monitor-http", { url: "http://10.1.2.3/" }, true],
  ["monitor-port", { host: "192.0.2.1", port: 80 }, false],
  ["no-such-tool", {}, false],
])("a target inside the operator's own lists does not need internet access: %s %o %s", async (tool, params, inside) => {
  const isInside = createInside({ targets: ["10.0.0.0/8"], names: ["corp.example"] });
  expect(await isInside({ tool, params: JSON.stringify(params) })).toBe(inside);
});
