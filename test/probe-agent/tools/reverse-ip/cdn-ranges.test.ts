import { describe, expect, it } from "vitest";
import { findContentNetwork } from "#probe-agent/tools/reverse-ip/reverse-ip.ts";

describe("an address of a content network", () => {
  it.each([
    ["104.16.0.1", "Cloudflare"],
    ["104.27.255.255", "Cloudflare"],
    ["2606:4700::6810:1", "Cloudflare"],
    ["151.101.1.1", "Fastly"],
    ["2a04:4e42::1", "Fastly"],
    ["13.33.0.1", "Amazon CloudFront"],
    ["104.28.0.0", null],
    ["8.8.8.8", null],
    ["2001:db8::1", null],
    ["x", null],
  ])("%s belongs to %s", (ip, network) => {
    expect(findContentNetwork(ip)).toBe(network);
  });
});
