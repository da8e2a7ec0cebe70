import { describe, expect, it } from "vitest";
import { addressType } from "#probe-agent/analysis/network/address-type.ts";

describe("the type of an address", () => {
  it.each([
    ["public", "8.8.8.8 1.0.0.0 100.63.255.255 100.128.0.0 172.15.255.255 172.32.0.0 192.0.1.0 223.255.255.255"],
    ["public", "2000:: 2001:200:: 2606:4700::1111 3ffe:ffff:: 3fff:1000:: 64:ff9b::8.8.8.8 168.63.129.16"],
    ["private", "10.0.0.0 10.255.255.255 172.16.0.0 172.31.255.255 192.168.0.1 fc00::1 fdff:ffff:: 64:ff9b::10.0.0.1"],
    ["private", "64:ff9b:1::1"],
    ["cgnat", "100.64.0.0 100.127.255.255"],
    ["loopback", "127.0.0.1 127.255.255.255 ::1"],
    ["link_local", "169.254.0.1 169.254.169.254 fe80::1 febf:ffff::"],
    ["multicast", "224.0.0.1 239.255.255.255 232.1.1.1 ff02::1 ff00::"],
    ["documentation", "192.0.2.1 198.51.100.1 203.0.113.255 233.252.0.1 2001:db8::1 3fff::1 3fff:fff:ffff::"],
    ["anycast", "192.0.0.9 192.0.0.10 192.31.196.1 192.175.48.1 192.52.193.1"],
    ["anycast", "2001:1::1 2001:1::2 2001:1::3 2001:3::1 2001:4:112::1 2620:4f:8000::1"],
    ["reserved", "0.0.0.0 0.255.255.255 192.0.0.1 192.0.0.8 192.88.99.1 198.18.0.1 198.19.255.255 240.0.0.1"],
    ["reserved", "255.255.255.255 :: ::ffff:8.8.8.8 100::1 2001::1 2001:1::4 2001:2::1 2001:20::1 2002::1 5f00::1"],
    ["reserved", "fec0::1 4000::1 64:ff9b:2::1"],
  ])("is %s for %s", (type, addresses) => {
    for (const address of addresses.split(" ")) expect(addressType(address), address).toBe(type);
  });

  it("is reserved for invalid addresses", () => {
    for (const text of ["", "127.1", "example.com", "fe80::1%lo", "[::1]"]) expect(addressType(text)).toBe("reserved");
  });
});
