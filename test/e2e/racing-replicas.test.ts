import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BUILT_IN_PLANS } from "#control-plane/core/plans.ts";
import { startControlPlane, type Answer, type TestControlPlane } from "#test/support/control-plane.ts";
import { inOneMinute } from "#test/support/one-minute.ts";

const TRIALS = 100;
const PER_MINUTE = 5;

let planes: readonly TestControlPlane[];

beforeAll(async () => {
  const plans = {
    ...BUILT_IN_PLANS,
    starter: { ...BUILT_IN_PLANS.starter, requestsPerMinute: PER_MINUTE },
    captain: { ...BUILT_IN_PLANS.captain, webhooks: 1_000, requestsPerMinute: 1_000_000, requestsPerDay: 1_000_000 },
  };
  const one = await startControlPlane({ plans });
  planes = [one, await startControlPlane({ plans, databaseUrl: one.databaseUrl })];
});
afterAll(async () => {
  for (const plane of (planes ?? []).toReversed()) await plane.stop();
});

/** Calls both replicas at the same moment, so often each. */
function race(times: number, call: (plane: TestControlPlane) => Promise<Answer>): Promise<readonly Answer[]> {
  return Promise.all(Array.from({ length: times }, () => planes.map(call)).flat());
}

describe("two replicas at the same moment", () => {
  it("make a webhook of one idempotency key once, in each of a hundred trials", async () => {
    const [one] = planes;
    const key = (await one?.createKey("captain")) ?? "";
    for (let trial = 1; trial <= TRIALS; trial += 1) {
      const headers = { "x-idempotency-key": randomUUID() };
      const body = { name: `Trial ${trial}`, url: "https://hooks.example.com/" };
      const answers = await race(2, (plane) => plane.call("/api/v4/webhooks", { key, headers, body }));
      const made = answers.filter(({ status }) => status === 201);
      expect(made.length).toBeGreaterThan(0);
      // The others got the same bytes, with the same secret, or the answer that the first one is still running.
      expect(new Set(made.map(({ text }) => text)).size).toBe(1);
      expect(answers.filter(({ status }) => status !== 201).map(({ status }) => status)).toSatisfy((all: number[]) =>
        all.every((status) => status === 409),
      );
      const again = await planes[trial % 2]?.call("/api/v4/webhooks", { key, headers, body });
      expect(again?.text).toBe(made[0]?.text);
    }
    const { body } = (await one?.call("/api/v4/webhooks", { key })) ?? {};
    expect(body?.data).toHaveLength(TRIALS);
  });

  it("let exactly as many requests pass as the plan allows in a minute, in each of a hundred trials", async () => {
    for (let trial = 1; trial <= TRIALS; trial += 1) {
      const answers = await inOneMinute(async () => {
        const key = (await planes[0]?.createKey("starter")) ?? "";
        return race(PER_MINUTE, (plane) => plane.call("/api/v4/webhooks", { key }));
      });
      const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
      expect(statuses).toEqual([...Array(PER_MINUTE).fill(200), ...Array(PER_MINUTE).fill(429)]);
    }
  });
});
