import { describe, expect, it } from "vitest";
import { factOf, presentExample } from "#test/shared/tools/examples.ts";
import { cookie } from "#shared/tools/cookie/contract.ts";

const NO_COOKIES = {
  grade: "A+",
  score: 100,
  findings: [],
  note: "No cookie was set.",
  cookies: [],
  summary: {
    total: 0,
    graded: 0,
    rejected: 0,
    secure: 0,
    http_only: 0,
    same_site: 0,
    third_party: 0,
    trackers: 0,
  },
};

describe("the presentation of cookie", () => {
  it("begins with the number of cookies, and lists each with its protection", () => {
    const shown = presentExample(cookie);
    expect(shown.verdict).toBe("good");
    expect(shown.headline).toBe("shop.test sets 3 cookies, 1 for tracking, grade B");
    expect(factOf(shown, "Only over HTTPS")).toBe("2 of 3");
    expect(shown.tables[0]?.rows.map(({ cells }) => cells)).toEqual([
      ["wp_session", "session", "session", "yes", "yes", "lax", "shop.test"],
      ["woocommerce_cart_hash", "", "session", "yes", "no", "lax", "shop.test"],
      ["_ga", "Google Analytics", "365 days", "no", "no", "no", "*.shop.test"],
    ]);
  });

  it("shows no grade for a page without cookies, and still names its trackers", () => {
    const shown = presentExample(cookie, () => NO_COOKIES);
    expect(shown.headline).toBe("shop.test sets no cookies, but has 1 tracker in its HTML");
    expect([factOf(shown, "Grade"), factOf(shown, "Only over HTTPS"), factOf(shown, "Cookies")]).toEqual([
      null,
      null,
      "0",
    ]);
    expect(shown.tables.map(({ title }) => title)).toEqual(["Trackers in the HTML"]);
    const clean = presentExample(cookie, () => ({ ...NO_COOKIES, trackers_in_html: null }));
    expect(clean.headline).toBe("shop.test sets no cookies");
    expect(factOf(clean, "Trackers in the HTML")).toBe("unknown: it could not be read");
  });

  it("says why browsers drop a cookie, and that none is left", () => {
    const shown = presentExample(cookie, ({ cookies, summary }) => ({
      cookies: cookies.slice(0, 1).map((one) => ({ ...one, rejected_reason: "domain_mismatch" })),
      summary: { ...summary, total: 1, graded: 0, rejected: 1, trackers: 0 },
    }));
    expect(shown.headline).toBe("shop.test sets 1 cookie, all dropped by browsers or deleted");
    expect(shown.tables[0]?.rows[0]).toMatchObject({ tone: "warning" });
    expect(shown.tables[0]?.rows[0]?.cells.at(-1)).toBe("browsers drop it: domain mismatch");
  });

  it("shows the time until a cookie's end where it has no Max-Age, and counts cookies that are not listed", () => {
    const shown = presentExample(cookie, ({ cookies, summary }) => ({
      cookies: cookies.map((one) => ({
        ...one,
        session: false,
        max_age_s: null,
        expires: "2026-12-07T12:00:00.000Z",
      })),
      summary: { ...summary, total: 500 },
    }));
    expect(shown.tables[0]?.rows[0]?.cells[2]).toBe("10 days");
    expect(shown.tables[0]?.more).toBe(497);
  });

  it("says that the cookies are those of an error page", () => {
    const shown = presentExample(cookie, () => ({ code: 503 }));
    expect(shown.headline).toBe("shop.test sets 3 cookies, 1 for tracking, grade B (an error page, status 503)");
  });
});
