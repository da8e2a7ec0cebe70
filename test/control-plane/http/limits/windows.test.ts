import { describe, expect, it } from "vitest";
import { addressGroup, createAddressLimiter, createNetworkOf } from "#control-plane/http/limits/address.ts";
import { dayEnd, minuteEnd, secondsUntil, windowsAt } from "#control-plane/http/access/windows.ts";
import { createManualClock } from "#test/support/clock.ts";

describe("the windows", () => {
  it("are whole UTC minutes and days", () => {
    const lastMoment = windowsAt(Date.parse("2026-03-01T23:59:59.999Z"));
    const nextMoment = windowsAt(Date.parse("2026-03-02T00:00:00.000Z"));
    expect(nextMoment).toEqual({ minute: lastMoment.minute + 1, day: lastMoment.day + 1 });
    expect(minuteEnd(lastMoment.minute)).toBe(Date.parse("2026-03-02T00:00:00Z") / 1_000);
    expect(dayEnd(lastMoment.day)).toBe(Date.parse("2026-03-02T00:00:00Z") / 1_000);
    expect(dayEnd(nextMoment.day)).toBe(Date.parse("2026-03-03T00:00:00Z") / 1_000);
  });

  it("end after a whole number of seconds, at least one", () => {
    expect(secondsUntil(100, 40_000)).toBe(60);
    expect(secondsUntil(100, 40_001)).toBe(60);
    expect(secondsUntil(100, 99_999)).toBe(1);
    expect(secondsUntil(100, 100_500)).toBe(1);
  });
});

describe("the limit of an address", () => {
  it("admits its number of calls in a window and says when the next window begins", () => {
    const clock = createManualClock(new Date("2026-03-01T00:00:30Z"));
    const limiter = createAddressLimiter({ clock, limit: 2, windowSeconds: 60 });
    const resetsAt = Date.parse("2026-03-01T00:01:00Z") / 1_000;
    expect(limiter.take("192.0.2.1")).toEqual({ ok: true, remaining: 1, resetsAt, retryAfterSeconds: 30 });
    expect(limiter.take("192.0.2.1").ok).toBe(true);
    expect(limiter.isExhausted("192.0.2.1")).toBe(true);
    expect(limiter.take("192.0.2.1")).toEqual({ ok: false, remaining: 0, resetsAt, retryAfterSeconds: 30 });
    expect(limiter.take("192.0.2.2").ok).toBe(true);
    clock.advance(30_000);
    expect(limiter.isExhausted("192.0.2.1")).toBe(false);
    expect(limiter.take("192.0.2.1")).toMatchObject({ ok: true, remaining: 1, retryAfterSeconds: 60 });
  });

  it("counts an IPv6 /64 as one client, and a mapped IPv4 address as that address", () => {
    expect(addressGroup("2001:db8:1:2::1")).toBe(addressGroup("2001:db8:1:2:ffff:ffff:ffff:ffff"));
    expect(addressGroup("2001:db8:1:2::1")).not.toBe(addressGroup("2001:db8:1:3::1"));
    expect(addressGroup("::ffff:192.0.2.1")).toBe("192.0.2.1");
    expect(addressGroup("fe80::1%eth0")).toBe(addressGroup("fe80::2"));
    expect(addressGroup(`x:${"y".repeat(1_000)}`).length).toBeLessThanOrEqual(64);
  });

  it("stores a bounded number of addresses", () => {
    const clock = createManualClock(new Date("2026-03-01T00:00:30Z"));
    const limiter = createAddressLimiter({ clock, limit: 1, windowSeconds: 60, addresses: 10 });
    limiter.take("192.0.2.1");
    for (let last = 2; last <= 11; last += 1) limiter.take(`192.0.2.${last}`);
    expect(limiter.isExhausted("192.0.2.1")).toBe(false);
    expect(limiter.isExhausted("192.0.2.11")).toBe(true);
  });
});

describe("the network of an address", () => {
  const networkOf = createNetworkOf(["198.51.100.0/24", "2001:db8:ffff::/48"]);

  it.each([
    ["192.0.2.1", "192.0.2.254", true],
    ["192.0.2.1", "192.0.3.1", false],
    ["::ffff:192.0.2.1", "192.0.2.9", true],
    ["2001:db8:1:2::1", "2001:db8:1:ffff::1", true],
    ["2001:db8:1:2::1", "2001:db8:2:2::1", false],
    ["127.0.0.1", "127.0.0.2", false],
    ["::1", "::2", false],
    ["198.51.100.1", "198.51.100.2", false],
    ["2001:db8:ffff::1", "2001:db8:ffff::2", false],
  ])("of %s and %s is one: %s", (one, other, isOne) => expect(networkOf(one) === networkOf(other)).toBe(isOne));

  it("is bounded for other text", () => expect(networkOf("y.".repeat(1_000)).length).toBeLessThanOrEqual(64));
});
