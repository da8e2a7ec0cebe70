import { describe, expect, it } from "vitest";
import { ok } from "#shared/contracts/outcome.ts";
import type { Given } from "#control-plane/monitors/settings/fields.ts";
import { GOOD, startTrialWorld } from "#test/control-plane/monitors/try/world.ts";
import { createManualClock } from "#test/support/clock.ts";
import { until } from "#test/support/until.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const world = await stopAfterAll(startTrialWorld());

describe("the limit of tries", () => {
  it("is six a minute for an account, and says when the next is possible", async () => {
    world.answer(() => ok(GOOD));
    const [one, other] = [await world.openAccount(), await world.openAccount()];
    const given = { url: "https://example.com/", locations: ["eu-west"] };
    // A minute can end meanwhile.
    let answer = await one.tryOut(given);
    let admitted = 0;
    for (; answer.status === 200; admitted += 1) answer = await one.tryOut(given);
    expect(admitted).toBeGreaterThanOrEqual(6);
    expect(admitted).toBeLessThanOrEqual(12);
    expect([answer.status, answer.body.error]).toMatchObject([429, { code: "rate_limit_exceeded" }]);
    const seconds = Number(answer.headers.get("retry-after"));
    expect(seconds).toBeGreaterThanOrEqual(1);
    expect(seconds).toBeLessThanOrEqual(60);
    expect((answer.body.error as { message: string }).message).toBe(
      `This account has tried monitors 6 times in this minute, which is the limit. Wait ${seconds} s.`,
    );
    expect((await other.tryOut(given)).status).toBe(200);
  });

  it("begins again with the next minute, and a list of refused monitors does not count", async () => {
    const clock = createManualClock(new Date("2030-01-01T00:00:30Z"));
    const { id: accountId } = await world.openAccount();
    const short = world.openTrials({ clock });
    const given: Given = { check_type: "heartbeat", name: "Backup" };
    const attempt = async (): Promise<boolean | number | undefined> => {
      const tried = await short.tryMonitor({ accountId }, given);
      return tried.ok || tried.refusal.retryAfterSeconds;
    };
    for (let count = 0; count < 5; count += 1) expect(await attempt()).toBe(true);
    await short.tryMonitors({ accountId }, [{ url: "http://10.0.0.1/" }, {}]);
    await short.tryMonitors({ accountId }, [given, given, {}]);
    expect(await attempt()).toBe(30);
    clock.advance(30_000);
    expect(await attempt()).toBe(true);
  });
});

describe("a try of many monitors", () => {
  const given = (count: number): Given[] =>
    Array.from({ length: count }, (_, index) => ({ url: `https://example.com/${index}`, locations: ["eu-west"] }));

  it("counts once, runs four at the same time, and refuses each for itself", async () => {
    let running = 0;
    let most = 0;
    const waiting: (() => void)[] = [];
    world.answer(async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise<void>((resolve) => waiting.push(resolve));
      running -= 1;
      return ok(GOOD);
    });
    const { id: accountId } = await world.openAccount();
    const list: Given[] = given(10);
    list[3] = { url: "http://10.0.0.1/" };
    const pending = world.trials.tryMonitors({ accountId }, list);
    for (let round = 0; round < 9; round += 1) {
      await until(() => waiting.length > 0, "a running check");
      if (round === 0) await until(() => running === 4, "four running checks");
      waiting.shift()?.();
    }
    const tried = await pending;
    if (!tried.ok) throw new Error(JSON.stringify(tried.refusal));
    expect(most).toBe(4);
    expect(tried.value.map(({ ok: isGood }) => isGood)).toEqual(list.map((_, index) => index !== 3));
    expect(tried.value[3]).toMatchObject({ refusal: { code: "target_not_allowed" } });
    expect(tried.value[9]).toMatchObject({ value: { tried: { verdict: "up" } } });
  });

  it("has at most fifty, and warns of those that the plan does not allow", async () => {
    world.answer(() => ok(GOOD));
    const { id: accountId } = await world.openAccount("starter");
    expect(await world.trials.tryMonitors({ accountId }, given(51))).toMatchObject({
      refusal: { field: "monitors", reason: "range" },
    });
    const tried = await world.trials.tryMonitors(
      { accountId },
      given(50).map((one) => ({ ...one, interval_minutes: 60 })),
    );
    if (!tried.ok) throw new Error(JSON.stringify(tried.refusal));
    const warned = tried.value.map((one) => (one.ok ? one.value.warnings.length : null));
    expect(warned).toEqual([0, ...Array.from({ length: 49 }, () => 1)]);
  });

  it("ends when nobody waits for it any more or its time is over, and what has not ended is unknown", async () => {
    const begun = Promise.withResolvers<null>();
    world.answer(() => {
      begun.resolve(null);
      return new Promise(() => {});
    });
    const { id: accountId } = await world.openAccount();
    const gone = new AbortController();
    const [one = {}] = given(1);
    const pending = world.trials.tryMonitor({ accountId, signal: gone.signal }, one);
    await begun.promise;
    gone.abort();
    const unfinished = { verdict: "unknown", cause: { code: "not_finished" }, checks: [{ status: "unknown" }] };
    expect(await pending).toMatchObject({ value: { tried: unfinished } });
    const short = world.openTrials({ longestMs: 20 });
    expect(await short.tryMonitor({ accountId }, one)).toMatchObject({ value: { tried: unfinished } });
  });
});
