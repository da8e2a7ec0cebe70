import { expect, it } from "vitest";
import { parseDescriptorLimit, readDescriptorLimit } from "#shared/process/descriptor-limit.ts";
import { planConnections } from "#control-plane/checks/descriptors.ts";

it.each([256, 1_024, 4_096, 20_000, 1_048_576])("all listeners together leave some of %d descriptors", (limit) => {
  const { http, strangers, agents } = planConnections(limit);
  expect(Math.min(http, strangers, agents)).toBeGreaterThan(0);
  expect(http + strangers + agents).toBeLessThanOrEqual(limit - 192);
});

it("divides the usual 1024 descriptors into 416 for callers, 104 for unidentified peers and 312 for agents", () => {
  expect(planConnections(1_024)).toEqual({ http: 416, strangers: 104, agents: 312 });
});

it("parses the soft limit of a process", () => {
  const text = (soft: string) =>
    `Limit                     Soft Limit           Hard Limit           Units     \nMax open files            ${soft}                 524288               files     \n`;
  expect(parseDescriptorLimit(text("1024"))).toBe(1_024);
  expect(parseDescriptorLimit(text("unlimited"))).toBe(null);
  expect(parseDescriptorLimit("")).toBe(null);
  expect(readDescriptorLimit()).toBeGreaterThan(0);
});
