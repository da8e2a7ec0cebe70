import { describe, expect, it } from "vitest";
import { nearestName } from "#shared/text/nearest-name.ts";

const KNOWN = ["url", "method", "follow", "timeout", "ua", "locations", "dry_run", "share"];

describe("the nearest known name", () => {
  it.each([
    ["uri", "url"],
    ["URL", "url"],
    ["ulr", "url"],
    ["timout", "timeout"],
    ["time_out", "timeout"],
    ["location", "locations"],
    ["dryrun", "dry_run"],
    ["shrae", "share"],
  ])("of %s is %s", (given, nearest) => expect(nearestName(given, KNOWN)).toBe(nearest));

  it.each(["a", "u", "", "xyz", "utm_source", "api_key", "l".repeat(5_000)])("of %s is null", (given) => {
    expect(nearestName(given, KNOWN)).toBeNull();
  });

  it("is the closest of several, and the first of equally close ones", () => {
    expect(nearestName("posts", ["ports", "port", "host"])).toBe("ports");
    expect(nearestName("porx", ["port", "pore"])).toBe("port");
  });
});
