import { describe, expect, it } from "vitest";
import { barOf } from "#control-plane/public/status-pages/render/html/page.ts";
import { formatDay, formatPercent, formatSince, formatTime } from "#control-plane/public/status-pages/render/labels.ts";
import { makeDays } from "#test/support/status-page-views.ts";

describe("times in words", () => {
  it("have a date that no reader can mistake, in UTC", () => {
    expect(formatDay("2026-01-02")).toBe("2 Jan 2026");
    expect(formatTime(new Date("2026-11-23T23:59:59.999Z"))).toBe("23 Nov 2026, 23:59 UTC");
  });
});

describe("percentages", () => {
  it.each([
    [100, "100 %"],
    [99.999, "99.99 %"],
    [99.29, "99.29 %"],
    [0.29, "0.29 %"],
    [0.001, "0 %"],
  ])("%d has two decimals, cut and not rounded: %s", (value, words) => {
    expect(formatPercent(value)).toBe(words);
  });

  it("say since when they are, if less than the whole window is known", () => {
    const since = (...first: readonly number[]) =>
      formatSince(first.map((from) => ({ days: makeDays((index) => (index < from ? { uptime: null } : {})) })));
    expect(since(0)).toBe("in 90 days");
    expect(since(69)).toBe("since 3 Nov");
    expect(since(69, 80)).toBe("since 3 Nov");
    expect(since(69, 0)).toBe("in 90 days");
    expect(since(90)).toBe("in 90 days");
  });
});

describe("a day of a monitor", () => {
  const day = { day: "2026-11-22", uptime: 100, downSeconds: 0, maintenanceSeconds: 0 };

  it.each([
    [{}, "", "100 % up"],
    [{ uptime: 99.95, downSeconds: 43 }, "p", "99.95 % up, 43 s down"],
    [{ uptime: 95, downSeconds: 4_320 }, "p", "95 % up, 1 h 12 min down"],
    [{ uptime: 94.999, downSeconds: 4_321 }, "o", "94.99 % up, 1 h 12 min down"],
    [{ uptime: 0, downSeconds: 86_400 }, "o", "0 % up, 1 d down"],
    [{ maintenanceSeconds: 7_200 }, "m", "100 % up, maintenance 2 h"],
    [{ uptime: null, maintenanceSeconds: 7_200 }, "m", "maintenance 2 h"],
    [{ uptime: 90, downSeconds: 60, maintenanceSeconds: 60 }, "o", "90 % up, 1 min down, maintenance 1 min"],
    [{ uptime: null }, "n", "no data"],
  ])("%o has the shape %j and words", (over, shape, figures) => {
    expect(barOf({ ...day, ...over })).toEqual({ day: "2026-11-22", shape, words: `22 Nov 2026: ${figures}` });
  });

  it("is never anything but a date", () => {
    expect(() => barOf({ ...day, day: "x onmouseover=alert(1)" })).toThrow(RangeError);
  });
});
