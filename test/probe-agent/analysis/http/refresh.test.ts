import { describe, expect, it } from "vitest";
import { parseRefresh } from "#probe-agent/analysis/web/redirect-landing.ts";
import { cpuTime } from "#test/support/cpu-time.ts";

/** Cases from the web platform tests for http-equiv=refresh. */
describe("a refresh (WHATWG HTML, shared declarative refresh steps)", () => {
  it.each([
    ["0;url=/x", 0, "/x"],
    ["0; URL = '/x' junk", 0, "/x"],
    ['1;URL="/x"', 1, "/x"],
    ["1;\t\n\f\r url \t=\n /x", 1, "/x"],
    ["1 url=/x", 1, "/x"],
    ["1,url=/x", 1, "/x"],
    ["1 ; , /x", 1, ", /x"],
    ["1;/x", 1, "/x"],
    ["1; '/x", 1, "/x"],
    ["1;url='/x\"", 1, '/x"'],
    ["1;uRLx", 1, "uRLx"],
    ["1;ux", 1, "ux"],
    ["1;ur=/x", 1, "ur=/x"],
    ["1;url", 1, "url"],
    ["1;url/x", 1, "url/x"],
    ["5", 5, null],
    ["  5  ", 5, null],
    ["5;", 5, null],
    ["5; ", 5, null],
    ["1.9;url=/x", 1, "/x"],
    [".5;/x", 0, "/x"],
    ["1...9..;/x", 1, "/x"],
    ["99999999999;/x", 2_147_483_647, "/x"],
  ])("%j is %i s to %j", (value, delaySeconds, url) => {
    expect(parseRefresh(value)).toEqual({ delaySeconds, url });
  });

  it.each(["", " ", "url=/x", ";url=/x", "x", "-1;/x", "+1;/x", "1x;/y", "\u00a01;/x", "1\u00a0;/x", "1/x"])(
    "%j is none",
    (value) => {
      expect(parseRefresh(value)).toBeNull();
    },
  );

  it("is read in linear time at any length", () => {
    const startedAt = cpuTime();
    for (const value of [" ".repeat(1e6), "1".repeat(1e6), `1;${" ".repeat(1e6)}`, `1;url=${"'".repeat(1e6)}`])
      parseRefresh(value);
    expect(cpuTime() - startedAt).toBeLessThan(1000);
  });
});
