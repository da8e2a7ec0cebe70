import { describe, expect, it } from "vitest";
import { parseParams } from "#shared/schema/schema.ts";
import { ping as contract } from "#shared/tools/ping/contract.ts";

function parse(given: Readonly<Record<string, unknown>>) {
  return parseParams(contract.params, { host: "example.net", ...given }, { from: "text", unknown: "ignore" });
}

function refine(given: Readonly<Record<string, unknown>>) {
  const parsed = parse(given);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problem));
  return contract.refine?.(parsed.value as Parameters<typeof contract.deadlineMs>[0]);
}

describe("the ping contract", () => {
  it.each([
    [{ action: "ports" }, "ports", "required"],
    [{ protocol: "udp" }, "protocol", "enum"],
    [{ protocol: "icmp", port: "80" }, "protocol", "enum"],
    [{ action: "traceroute", port: "80" }, "protocol", "required"],
  ])("rejects parameters that exclude each other: %j", (given, field, reason) => {
    expect(refine(given)).toMatchObject({ field, reason });
  });

  it.each([
    [{ action: "ports", ports: "80,443" }],
    [{ port: "80" }],
    [{ action: "traceroute", protocol: "udp", port: "53" }],
    [{ ip_version: "4" }],
    [{}],
  ])("accepts parameters that can be combined: %j", (given) => {
    expect(refine(given)).toBeNull();
  });

  it.each([
    [{ count: "11" }, "count", "range"],
    [{ max_hops: "31" }, "max_hops", "range"],
    [{ ports: Array.from({ length: 21 }, (_, index) => index + 1).join() }, "ports", "range"],
    [{ ports: "0" }, "ports", "range"],
    [{ ip_version: "5" }, "ip_version", "range"],
    [{ action: "sweep" }, "action", "enum"],
  ])("has limits: %j", (given, field, reason) => {
    expect(parse(given)).toMatchObject({ ok: false, problem: { field, reason } });
  });

  it("has the deadlines of its actions", () => {
    const deadline = (given: Readonly<Record<string, unknown>>): number => {
      const parsed = parse(given);
      if (!parsed.ok) throw new Error(JSON.stringify(parsed.problem));
      return contract.deadlineMs(parsed.value as Parameters<typeof contract.deadlineMs>[0]);
    };
    expect(deadline({})).toBe(3_800);
    expect(deadline({ count: "10", interval_ms: "1000" })).toBe(13_000);
    expect(deadline({ action: "ports", ports: "80" })).toBe(10_000);
    expect(deadline({ action: "traceroute" })).toBe(30_000);
  });
});
