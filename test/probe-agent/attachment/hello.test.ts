import { expect, it } from "vitest";
import { readConfig } from "#probe-agent/config.ts";
import { buildHello, hasGlobalIpv6 } from "#probe-agent/attachment/hello.ts";

const NOTHING = { raw: { v4: false, v6: false, missing: [] }, ipv6: false, browser: false };

function capabilities(can: Partial<typeof NOTHING>): readonly string[] {
  const read = readConfig({});
  if (!read.ok) throw new Error(read.line);
  return buildHello(read.config, "1.0.0", { ...NOTHING, ...can }).capabilities;
}

it("an agent reports its capabilities, and nothing else", () => {
  expect(capabilities({})).toEqual([]);
  expect(capabilities({ browser: true })).toEqual(["browser"]);
  expect(capabilities({ raw: { v4: true, v6: false, missing: [] }, ipv6: true })).toEqual([
    "icmp4",
    "traceroute",
    "ipv6",
  ]);
});

it.each([
  ["an address of the IPv6 internet", [{ family: "IPv6", internal: false, address: "2001:db8::1" }], true],
  ["an address that only this link knows", [{ family: "IPv6", internal: false, address: "fe80::1" }], false],
  ["a private address", [{ family: "IPv6", internal: false, address: "fd00::1" }], false],
  ["an address of the host itself", [{ family: "IPv6", internal: true, address: "2001:db8::1" }], false],
  ["IPv4 alone", [{ family: "IPv4", internal: false, address: "203.0.113.1" }, undefined], false],
] as const)("tells IPv6 by %s", (_what, interfaces, expected) => {
  expect(hasGlobalIpv6(interfaces)).toBe(expected);
});
