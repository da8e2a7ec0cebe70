import { sortFindings } from "#shared/contracts/findings.ts";
import { cacheFindings } from "#probe-agent/analysis/http/cache-findings.ts";
import type { HeaderPair } from "#probe-agent/analysis/http/header-list.ts";
import { expectWellFormed } from "#test/support/findings.ts";
import { describe, expect, it } from "vitest";
import { cacheReport } from "#probe-agent/analysis/http/cache-report.ts";

const now = new Date("2026-06-01T00:00:00Z");
const DATE = ["Date", "Mon, 01 Jun 2026 00:00:00 GMT"] as const;
const report = (headers: readonly (readonly [string, string])[], code = 200) =>
  cacheReport([DATE, ...headers], code, now);

describe("the report on caching (RFC 9111)", () => {
  it.each([
    [[["Cache-Control", "max-age=60"]], 200, "shared", 60, 60],
    [[["Cache-Control", "private, max-age=60"]], 200, "private", 60, null],
    [[["Cache-Control", "no-store, max-age=60"]], 200, "none", null, null],
    [[["Cache-Control", "s-maxage=9"]], 500, "shared", null, 9],
    [[["Expires", "Mon, 01 Jun 2026 01:00:00 GMT"]], 200, "shared", 3600, 3600],
    [
      [
        ["Expires", "Mon, 01 Jun 2026 01:00:00 GMT"],
        ["Cache-Control", "max-age=5"],
      ],
      200,
      "shared",
      5,
      5,
    ],
    [[["Expires", "Mon, 01 Jun 2026 01:00:00 GMT"]], 302, "shared", 3600, 3600],
    [[["Expires", "0"]], 200, "shared", 0, 0],
    [[["Last-Modified", "Fri, 22 May 2026 00:00:00 GMT"]], 200, "shared", 86_400, 86_400],
    [[["Last-Modified", "Fri, 22 May 2026 00:00:00 GMT"]], 302, "none", null, null],
    [[["Last-Modified", "Fri, 22 May 2027 00:00:00 GMT"]], 200, "shared", null, null],
    [[], 200, "shared", null, null],
    [[], 302, "none", null, null],
    [[["Cache-Control", "public"]], 302, "shared", null, null],
  ] as const)("%j with status %i", (headers, code, storable, browser, shared) => {
    const read = report(headers, code);
    expect([read.storable, read.browser?.fresh_s ?? null, read.shared?.fresh_s ?? null]).toEqual([
      storable,
      browser,
      shared,
    ]);
  });

  it("names the source of the lifetime", () => {
    expect(report([["Last-Modified", "Fri, 22 May 2026 00:00:00 GMT"]]).browser?.from).toBe("heuristic");
    expect(report([["Cache-Control", "s-maxage=5, max-age=1"]])).toMatchObject({
      browser: { from: "max-age", fresh_s: 1 },
      shared: { from: "s-maxage", fresh_s: 5 },
    });
  });

  it("reports what must be revalidated at each use, and the problems", () => {
    expect(report([["Cache-Control", "no-cache"]]).always_revalidate).toBe(true);
    expect(report([["Vary", "Accept, *"]])).toMatchObject({ always_revalidate: true, vary: ["accept", "*"] });
    const found = (...headers: HeaderPair[]) => {
      const findings = sortFindings(cacheFindings(headers, now));
      expectWellFormed(findings);
      return findings.map(({ severity, id, where }) => `${severity} ${id} ${where}`);
    };
    expect(found(["Vary", "*"])).toEqual(["warning vary-any Vary"]);
    expect(found(["Expires", "tomorrow"])).toEqual(["warning expires-not-a-date Expires"]);
    expect(found(["Expires", "-1"])).toEqual([]);
    expect(found(["Cache-Control", "max-age"])).toEqual(["warning cache-seconds-missing Cache-Control"]);
    expect(found(["Cache-Control", "public, private, x, x, a b, no-store, max-age=1"])).toEqual([
      "warning cache-directive-unreadable Cache-Control",
      "warning cache-private-and-public Cache-Control",
      "info cache-directive-repeated Cache-Control",
      "info cache-directive-unknown Cache-Control",
      "info cache-no-store-with-max-age Cache-Control",
    ]);
  });

  it("reads age, validators and the headers of caches", () => {
    const read = report([
      ["Age", "12"],
      ["ETag", 'W/"x"'],
      ["Cache-Status", "ExampleCache; hit; ttl=30"],
      ["X-Cache", "HIT from a"],
      ["X-Cache", "MISS from b"],
    ]);
    expect(read).toMatchObject({ age_s: 12, etag: 'W/"x"' });
    expect(read.served_by).toEqual([
      { header: "cache-status", value: "ExampleCache; hit; ttl=30" },
      { header: "x-cache", value: "HIT from a, MISS from b" },
    ]);
    expect(report([["Age", "-3"]]).age_s).toBeNull();
  });
});
