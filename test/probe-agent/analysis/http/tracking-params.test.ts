import { describe, expect, it } from "vitest";
import { cleanUrl, trackingParams } from "#probe-agent/analysis/http/tracking-params.ts";
import { cpuTime } from "#test/support/cpu-time.ts";

const clean = (url: string): string => cleanUrl(new URL(url));
const names = (url: string): string[] => trackingParams(new URL(url)).map(({ name }) => name);

describe("tracking parameters of a URL", () => {
  it.each([
    ["https://a.test/?utm_source=x", "https://a.test/"],
    ["https://a.test/p?id=1&UTM_Campaign=x&b=2", "https://a.test/p?id=1&b=2"],
    ["https://a.test/?a=%20+%2f&gclid=1&a=2&&c", "https://a.test/?a=%20+%2f&a=2&&c"],
    ["https://a.test/?%75tm_source=x&q=1", "https://a.test/?q=1"],
    ["https://a.test/#utm_source=x&utm_medium=y", "https://a.test/"],
    ["https://a.test/#part", "https://a.test/#part"],
    ["https://a.test/?q=utm_source=1", "https://a.test/?q=utm_source=1"],
    ["https://a.test/?%=1&fbclid", "https://a.test/?%=1"],
    ["https://www.youtube.com/watch?v=1&si=2&feature=share", "https://www.youtube.com/watch?v=1"],
    ["https://a.test/?si=2&feature=share&s=1", "https://a.test/?si=2&feature=share&s=1"],
    ["https://notyoutube.com/?si=2", "https://notyoutube.com/?si=2"],
    ["https://www.amazon.co.uk/dp/1?ref_=x&th=1", "https://www.amazon.co.uk/dp/1?th=1"],
    ["https://a.test/?__proto__=1&constructor=2", "https://a.test/?__proto__=1&constructor=2"],
  ])("%s is %s", (url, expected) => {
    expect(clean(url)).toBe(expected);
    expect(clean(clean(url))).toBe(expected);
    expect(names(clean(url))).toEqual([]);
  });

  it("are listed with their vendors", () => {
    expect(trackingParams(new URL("https://a.test/?msclkid=1&pk_campaign=2&x=3"))).toEqual([
      { name: "msclkid", vendor: "Microsoft Advertising" },
      { name: "pk_campaign", vendor: "Matomo" },
    ]);
  });

  it("are found in linear time", () => {
    const startedAt = cpuTime();
    const url = new URL(`https://a.test/?${"utm_a=1&b=2&".repeat(20_000)}`);
    expect(names(url.href)).toHaveLength(100);
    expect(clean(url.href)).not.toContain("utm_");
    expect(cpuTime() - startedAt).toBeLessThan(2000);
  });
});
