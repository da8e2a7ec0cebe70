import { expect, it } from "vitest";
import { isUsable, parseCacheControl } from "#probe-agent/analysis/http/cache-control.ts";

const parse = (...values: string[]) => parseCacheControl(values);

it("is null if no field was sent", () => {
  expect(parseCacheControl([])).toBeNull();
});

it("reads directives of several fields, with quotes and in any case", () => {
  const control = parse('Max-Age=60, private="set-cookie, x", NO-CACHE', 's-maxage="10",,stale-while-revalidate=5');
  expect(control).toMatchObject({
    maxAgeSeconds: 60,
    sharedMaxAgeSeconds: 10,
    staleWhileRevalidateSeconds: 5,
    noCache: true,
    private: true,
    noStore: false,
    problems: [],
  });
  expect(control?.directives.get("private")).toBe("set-cookie, x");
});

it("keeps the first of repeated directives and lists the problems", () => {
  expect(parse("max-age=1, max-age=2")).toMatchObject({
    maxAgeSeconds: 1,
    problems: [{ id: "cache-directive-repeated" }],
  });
  expect(parse("max-age=1.5")?.problems).toMatchObject([{ id: "cache-seconds-missing" }]);
  expect(parse("max-age=-1")?.maxAgeSeconds).toBeNull();
  expect(parse("no-store; max-age=0")?.problems).toEqual([
    {
      id: "cache-directive-unreadable",
      message: "Cache-Control has a part that is not a directive: no-store; max-age=0",
    },
  ]);
  expect(parse("public, private, frobnicate")?.problems).toHaveLength(2);
  expect(parse("max-age=99999999999999999999")?.maxAgeSeconds).toBe(2_147_483_648);
});

it("is usable with one known directive", () => {
  const usable = (value: string): boolean => {
    const control = parse(value);
    return control !== null && isUsable(control);
  };
  expect(["no-store", "max-age=0", "frob, public"].map(usable)).toEqual([true, true, true]);
  expect(["", "frob", "max-age=x", "max-age", "no-store; x"].map(usable)).toEqual([false, false, false, false, false]);
});

it("reads junk quickly", () => {
  for (const text of [",", '"', 'a="', "a=\\", " ", "a ", "\u0000"]) {
    expect(parse(text.repeat(1_000_000))?.noStore).toBe(false);
  }
});
