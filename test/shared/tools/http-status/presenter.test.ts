import { describe, expect, it } from "vitest";
import { factOf, presentExample } from "#test/shared/tools/examples.ts";
import { httpStatus } from "#shared/tools/http-status/contract.ts";

const FINDING = { id: "x", severity: "critical", message: "It fails.", how: null, reference: null, where: null };

describe("the presentation of http-status", () => {
  it("begins with the status and the target of a redirect, which is no fault", () => {
    const shown = presentExample(httpStatus);
    expect(shown.verdict).toBe("good");
    expect(shown.headline).toBe("shop.test/old answers 301 Moved Permanently and leads to https://shop.test/new");
    expect(shown.facts.slice(0, 4).map(({ label }) => label)).toEqual([
      "Status",
      "Total time",
      "First byte",
      "Address",
    ]);
    expect(shown.series[0]?.bars.map(({ length }) => length)).toEqual([2.809, 0.348, 2.3, 0.923, 0.366]);
  });

  it("marks a server error and says when to try again", () => {
    const shown = presentExample(httpStatus, () => ({
      code: 503,
      reason: "Service Unavailable",
      class: "server_error",
      redirected: false,
      location: null,
      retry_after_s: 120,
      findings: [FINDING],
    }));
    expect([shown.verdict, shown.headline]).toEqual(["bad", "shop.test/old answers 503 Service Unavailable in 7 ms"]);
    expect(shown.facts[0]).toMatchObject({ value: "503 Service Unavailable", tone: "bad" });
    expect(factOf(shown, "Try again in")).toBe("2 min");
  });

  it("says in the headline that the certificate is not trusted", () => {
    const shown = presentExample(httpStatus, () => ({
      tls: { protocol: "TLSv1.3", authorized: false, error: "expired" },
    }));
    expect(shown.headline).toBe(
      "shop.test/old answers 301 Moved Permanently, but its certificate is not trusted: it has expired",
    );
  });

  it("names the vendor of a status that is not in the registry, and a status without a name by its number", () => {
    const of = (change: object) => presentExample(httpStatus, () => ({ registered: false, ...change }));
    expect(factOf(of({ code: 520, vendor: "Cloudflare" }), "Not in the registry")).toBe("used by Cloudflare");
    expect(factOf(of({ code: 799, reason: "" }), "Status")).toBe("799");
  });

  it("says who may cache the page for how long, and what search engines are asked", () => {
    const of = (change: object) => presentExample(httpStatus, ({ cache }) => ({ cache: { ...cache, ...change } }));
    const hour = { fresh_s: 3600, from: "s-maxage" };
    expect(factOf(of({ shared: hour, browser: { fresh_s: 60, from: "max-age" } }), "May be cached by")).toBe(
      "any cache for 1 h",
    );
    expect(factOf(of({ always_revalidate: true }), "May be cached by")).toBe("any cache, which asks again each time");
    expect(factOf(of({ storable: "none" }), "May be cached by")).toBe("nobody");
    const robots = presentExample(httpStatus, () => ({ robots: { tags: [], noindex: true, nofollow: true } }));
    expect(factOf(robots, "Search engines")).toBe("asked not to list the page and not to follow its links");
  });
});
