import { describe, expect, it } from "vitest";
import { overridePlans } from "#control-plane/core/plans-override.ts";
import { BUILT_IN_PLANS, PLAN_NAMES } from "#control-plane/core/plans.ts";

describe("the plans", () => {
  it("have the documented limits and scopes", () => {
    const of = (read: (name: (typeof PLAN_NAMES)[number]) => unknown) => PLAN_NAMES.map(read);
    expect(of((name) => BUILT_IN_PLANS[name].requestsPerMinute)).toEqual([10, 30, 60, 120, 240]);
    expect(of((name) => BUILT_IN_PLANS[name].requestsPerDay)).toEqual([100, 1_000, 5_000, 50_000, 200_000]);
    expect(of((name) => BUILT_IN_PLANS[name].batchUrls)).toEqual([5, 20, 50, 100, 100]);
    expect(of((name) => BUILT_IN_PLANS[name].locations)).toEqual([2, 4, 10, 25, 50]);
    expect(of((name) => BUILT_IN_PLANS[name].keys)).toEqual([5, 10, 25, 50, 100]);
    expect(of((name) => BUILT_IN_PLANS[name].monitors)).toEqual([5, 25, 100, 500, 1_000]);
    expect(of((name) => BUILT_IN_PLANS[name].shortestIntervalMinutes)).toEqual([5, 2, 1, 1, 1]);
    expect(of((name) => BUILT_IN_PLANS[name].scopes.length)).toEqual([2, 7, 7, 7, 7]);
    expect(of((name) => BUILT_IN_PLANS[name].auditExport)).toEqual([false, false, false, false, true]);
    expect(BUILT_IN_PLANS.free.scopes).toEqual(["check", "dns"]);
  });

  it("take an operator's values column by column and keep the others", () => {
    const result = overridePlans({ free: { requests_per_minute: 20, scopes: ["dns", "ssl"] }, captain: { keys: 3 } });
    if (!result.ok) throw new Error(result.message);
    expect(result.plans.free).toEqual({ ...BUILT_IN_PLANS.free, requestsPerMinute: 20, scopes: ["dns", "ssl"] });
    expect(result.plans.captain.keys).toBe(3);
    expect(result.plans.pro).toBe(BUILT_IN_PLANS.pro);
  });

  it("take an operator's allowance of monitors and shortest interval", () => {
    const result = overridePlans({ pro: { monitors: 60_000, shortest_interval_minutes: 3 } });
    if (!result.ok) throw new Error(result.message);
    expect(result.plans.pro).toEqual({ ...BUILT_IN_PLANS.pro, monitors: 60_000, shortestIntervalMinutes: 3 });
  });

  it("take an operator's allowance of webhook subscriptions", () => {
    const result = overridePlans({ free: { webhooks: 7 } });
    if (!result.ok) throw new Error(result.message);
    expect(result.plans.free).toEqual({ ...BUILT_IN_PLANS.free, webhooks: 7 });
  });

  it("give an operator's choice of plans the audit export", () => {
    const result = overridePlans({ pro: { audit_export: true }, captain: { audit_export: false } });
    if (!result.ok) throw new Error(result.message);
    expect(result.plans.pro).toEqual({ ...BUILT_IN_PLANS.pro, auditExport: true });
    expect(result.plans.captain.auditExport).toBe(false);
  });

  it.each([
    [[], "must be a JSON object of plans"],
    [{ gold: {} }, '"gold" is not a plan'],
    [{ free: 5 }, '"free" must be an object'],
    [{ free: { requests: 1 } }, '"free.requests" is not a column'],
    [{ free: { requests_per_minute: 0 } }, '"free.requests_per_minute" must be an integer between 1'],
    [{ free: { requests_per_minute: "10" } }, "must be an integer"],
    [{ free: { batch_urls: 101 } }, "between 0 and 100"],
    [{ free: { shortest_interval_minutes: 0 } }, "between 1 and 1440"],
    [{ free: { monitors: -1 } }, "between 0 and"],
    [{ free: { scopes: ["check", "nope"] } }, '"free.scopes" must be a list of check'],
    [{ free: { audit_export: 1 } }, "true or false"],
    [JSON.parse('{"__proto__": {}}'), "is not a plan"],
    [{ free: JSON.parse('{"constructor": 1}') as object }, "is not a column"],
  ])("refuse an invalid override: %j", (override, message) => {
    const result = overridePlans(override);
    expect(result.ok ? "" : result.message).toContain(message);
  });
});
