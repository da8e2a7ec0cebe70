import { describe, expect, it } from "vitest";
import { createMtuPlan, SMALL_PACKET } from "#probe-agent/net/icmp/path-mtu.ts";
import type { PathMtu } from "#probe-agent/port/packets.ts";

/**
 * What a simulated path does with the n-th packet (from 1) of a size: returns the echo, refuses it at a router, or
 * drops it.
 */
type Path = (size: number, nth: number) => "passes" | { readonly mtu: number } | null;

interface Walk {
  readonly verdict: PathMtu;
  readonly sizes: readonly number[];
  readonly tookMs: number;
}

const RTT_MS = 40;

/** Runs a plan over a path in simulated time. */
function walk(
  path: Path,
  options: { readonly version?: 4 | 6; readonly mtu?: number; readonly takes?: number } = {},
): Walk {
  const plan = createMtuPlan(options.version ?? 4, options.mtu ?? 1_500);
  const sizes: number[] = [];
  const arrivals: { at: number; tell: () => void }[] = [];
  let now = 0;
  for (let turn = 0; turn < 1_000; turn += 1) {
    for (const arrival of arrivals.filter(({ at }) => at <= now)) {
      arrivals.splice(arrivals.indexOf(arrival), 1);
      arrival.tell();
    }
    const next = plan.next(now);
    if (next.do === "end") return { verdict: plan.verdict(), sizes, tookMs: now };
    if (next.do === "wait") {
      now = Math.min(next.until, ...arrivals.map(({ at }) => at));
      continue;
    }
    const { size } = next;
    if (size > (options.takes ?? Infinity)) {
      plan.unsendable(size);
      continue;
    }
    sizes.push(size);
    plan.sent(size, now);
    const fate = path(size, sizes.filter((sent) => sent === size).length);
    const at = now + RTT_MS;
    if (fate === "passes") arrivals.push({ at, tell: () => plan.passed(size, at) });
    else if (fate !== null) arrivals.push({ at, tell: () => plan.refused(size, fate.mtu, "198.18.0.7") });
  }
  throw new Error("the plan never ends");
}

/** A path of links with these MTUs. Its routers report the MTU, stay silent, or report no value. */
function narrow(mtu: number, says: "mtu" | "nothing" | "no figure"): Path {
  return (size) => (size <= mtu ? "passes" : says === "nothing" ? null : { mtu: says === "mtu" ? mtu : 0 });
}

describe("the search for a path's MTU", () => {
  it("ends after two packets if everything that the interface can send passes", () => {
    const { verdict, sizes } = walk(() => "passes");
    expect(verdict).toEqual({ bytes: 1_500, limitedBy: null, blackHole: false, method: "interface" });
    expect(sizes).toEqual([SMALL_PACKET[4], 1_500]);
  });

  it.each([4, 6] as const)("accepts a router's value after a packet of that size has passed, IPv%d", (version) => {
    const { verdict, sizes, tookMs } = walk(narrow(1_400, "mtu"), { version });
    expect(verdict).toEqual({ bytes: 1_400, limitedBy: "198.18.0.7", blackHole: false, method: "reported" });
    expect(sizes).toEqual([SMALL_PACKET[version], 1_500, 1_400]);
    expect(tookMs).toBe(2 * RTT_MS);
  });

  it("follows reported values from router to router", () => {
    const path: Path = (size) => (size > 1_480 ? { mtu: 1_480 } : size > 1_300 ? { mtu: 1_300 } : "passes");
    expect(walk(path).verdict).toMatchObject({ bytes: 1_300, method: "reported" });
  });

  it.each([1_499, 1_492, 1_400, 1_280, 1_007, 576, 100])("finds %d if a router reports no value", (mtu) => {
    const { verdict, sizes } = walk(narrow(mtu, "no figure"));
    expect(verdict).toEqual({ bytes: mtu, limitedBy: "198.18.0.7", blackHole: false, method: "search" });
    expect(sizes.length).toBeLessThanOrEqual(28);
  });

  it.each([1_492, 1_400, 1_280])("finds a black hole behind %d octets, in about two seconds", (mtu) => {
    const { verdict, sizes, tookMs } = walk(narrow(mtu, "nothing"));
    expect(verdict).toEqual({ bytes: mtu, limitedBy: null, blackHole: true, method: "search" });
    expect(sizes.length).toBeLessThanOrEqual(28);
    expect(tookMs).toBeLessThan(2_900);
  });

  it("does not mistake a router that answers once a second for a black hole", () => {
    const path: Path = (size, nth) => (size <= 1_400 ? "passes" : nth === 1 ? null : { mtu: 1_400 });
    const { verdict, tookMs } = walk(path);
    expect(verdict).toEqual({ bytes: 1_400, limitedBy: "198.18.0.7", blackHole: false, method: "reported" });
    expect(tookMs).toBeGreaterThan(1_000);
  });

  it("does not mistake a lost packet for a black hole", () => {
    expect(walk((_size, nth) => (nth === 1 ? null : "passes")).verdict).toMatchObject({
      bytes: 1_500,
      blackHole: false,
      method: "interface",
    });
  });

  it("has no result for a target that answers no echo, whatever routers report", () => {
    expect(walk(() => null).verdict).toEqual({ bytes: null, limitedBy: null, blackHole: false, method: null });
    const { verdict } = walk((size) => (size > 1_400 ? { mtu: 1_400 } : null));
    expect(verdict).toEqual({ bytes: null, limitedBy: "198.18.0.7", blackHole: false, method: null });
  });

  it("ignores values that cannot be true", () => {
    for (const mtu of [1_500, 65_535, 1, 67]) {
      const path: Path = (size) => (size > 1_400 ? { mtu } : "passes");
      expect(walk(path).verdict).toMatchObject({ bytes: 1_400, method: "search" });
    }
    const low: Path = (size) => (size > 1_400 ? { mtu: 600 } : "passes");
    expect(walk(low, { version: 6 }).verdict).toMatchObject({ bytes: 1_400, method: "search" });
    expect(walk(() => "passes", { mtu: 68 }).verdict).toMatchObject({ bytes: 68, method: "interface" });
  });

  it("tries smaller sizes if the interface cannot send its own MTU", () => {
    const { verdict } = walk(() => "passes", { mtu: 9_000, takes: 1_500 });
    expect(verdict).toMatchObject({ bytes: 1_500, limitedBy: null, blackHole: false });
  });

  it("always ends after a limited number of packets, whatever the path does", () => {
    let state = 7;
    const random = (): number => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
    for (let round = 0; round < 500; round += 1) {
      const path: Path = () =>
        random() < 0.4 ? "passes" : random() < 0.5 ? null : { mtu: Math.floor(random() * 2_000) };
      const { sizes, tookMs, verdict } = walk(path, { mtu: 68 + Math.floor(random() * 9_000) });
      expect(sizes.length).toBeLessThanOrEqual(30);
      expect(tookMs).toBeLessThan(12_000);
      expect(verdict.bytes === null || sizes.includes(verdict.bytes)).toBe(true);
    }
  });
});
