import { expect, it } from "vitest";
import { readConfig } from "#probe-agent/config.ts";
import { buildHello } from "#probe-agent/attachment/hello.ts";

const NOTHING = { raw: { v4: false, v6: false, missing: [] }, ipv6: false, browser: false };

function capabilities(can: Partial<typeof NOTHING>): readonly string[] {
  const read = readConfig({});
  if (!read.ok) throw new Error(read.line);
  return buildHello(read.config, "1.0.0", { ...NOTHING, ...can }).capabilities;
}

it("an agent says what it can do, and nothing else", () => {
  expect(capabilities({})).toEqual([]);
  expect(capabilities({ browser: true })).toEqual(["browser"]);
  expect(capabilities({ raw: { v4: true, v6: false, missing: [] }, ipv6: true })).toEqual([
    "icmp4",
    "traceroute",
    "ipv6",
  ]);
});
