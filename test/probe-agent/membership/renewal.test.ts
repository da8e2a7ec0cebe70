import { pino } from "pino";
import { Registry } from "prom-client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { renew } from "#probe-agent/membership/enroll.ts";
import type { Identity } from "#probe-agent/membership/identity.ts";
import { createAgentMetrics } from "#probe-agent/metrics/agent-metrics.ts";
import { keepRenewed, type Renewal } from "#probe-agent/membership/renewal.ts";
import { issue } from "#test/servers/pki.ts";
import { systemRandom } from "#test/support/clock.ts";

const DAY_MS = 86_400_000;
const START = Date.parse("2026-01-02T00:00:00Z");

let identity: Identity;
let asked: string[];
let answer: Awaited<ReturnType<typeof renew>>;
let renewal: Renewal;
let registry: Registry;

beforeEach(async () => {
  const notAfter = new Date(START + 30 * DAY_MS);
  const certificate = (await issue({ notBefore: new Date(START - DAY_MS), notAfter })).pem;
  identity = { agentId: "a", key: "", certificate, ca: "", receivedAtMs: START, tokenDigest: "" };
  asked = [];
  answer = { ok: false, retry: true, detail: "away" };
  // The host's clock is years off and must not matter. The monotonic one is advanced by the timers.
  vi.useFakeTimers({ now: 0 });
  registry = new Registry();
  renewal = keepRenewed({
    identity: () => identity,
    onRenewed: (renewed) => (identity = renewed),
    clock: { now: () => new Date(0), monotonic: () => Date.now() },
    random: systemRandom,
    metrics: createAgentMetrics(registry),
    log: pino({ level: "silent" }),
    ask: (address) => {
      asked.push(address);
      return Promise.resolve(answer);
    },
  });
});
afterEach(() => {
  renewal.stop();
  vi.useRealTimers();
});

it("asks after two thirds of the validity by the control plane's time, and not before", async () => {
  renewal.recordTime("one:1", START);
  await vi.advanceTimersByTimeAsync(20 * DAY_MS - 60_000);
  expect(asked).toEqual([]);
  answer = { ok: true, identity: { ...identity, receivedAtMs: START + 20 * DAY_MS } };
  await vi.advanceTimersByTimeAsync(120_000);
  expect(asked).toEqual(["one:1"]);
  expect(identity.receivedAtMs).toBe(START + 20 * DAY_MS);
  expect(await registry.metrics()).toContain('vantage_agent_certificate_renewals_total{result="ok"} 1');
});

it("asks immediately after a late restart, at the replica that reported its time last", async () => {
  renewal.recordTime("two:1", START + 25 * DAY_MS);
  await vi.advanceTimersByTimeAsync(0);
  expect(asked).toEqual(["two:1"]);
});

it("retries after failures with growing delays, and counts them", async () => {
  renewal.recordTime("one:1", START + 21 * DAY_MS);
  await vi.advanceTimersByTimeAsync(3_600_000);
  const inFirstHour = asked.length;
  expect(inFirstHour).toBeGreaterThan(2);
  await vi.advanceTimersByTimeAsync(DAY_MS);
  expect(asked.length - inFirstHour).toBeLessThan(12);
  expect(asked.length - inFirstHour).toBeGreaterThan(3);
  expect(await registry.metrics()).toContain(`{result="failed"} ${asked.length}`);
});

it("asks at once if the control plane changes its authority, and again until it is answered", async () => {
  renewal.recordTime("one:1", START);
  renewal.makeDue();
  await vi.advanceTimersByTimeAsync(180_000);
  expect(asked.length).toBeGreaterThan(1);
  const failed = asked.length;
  answer = { ok: true, identity };
  await vi.advanceTimersByTimeAsync(DAY_MS);
  expect(asked).toHaveLength(failed + 1);
});
