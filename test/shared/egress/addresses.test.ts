import { describe, expect, it } from "vitest";
import { classifyAddress, createEgress } from "#shared/internet/egress.ts";

/** First and last address of each refused IPv4 range. */
const REFUSED_IPV4: readonly [string, string][] = [
  ["0.0.0.0", "0.255.255.255"],
  ["10.0.0.0", "10.255.255.255"],
  ["100.64.0.0", "100.127.255.255"],
  ["127.0.0.0", "127.255.255.255"],
  ["168.63.129.16", "168.63.129.16"],
  ["169.254.0.0", "169.254.255.255"],
  ["172.16.0.0", "172.31.255.255"],
  ["192.0.0.0", "192.0.0.255"],
  ["192.0.2.0", "192.0.2.255"],
  ["192.88.99.0", "192.88.99.255"],
  ["192.168.0.0", "192.168.255.255"],
  ["198.18.0.0", "198.19.255.255"],
  ["198.51.100.0", "198.51.100.255"],
  ["203.0.113.0", "203.0.113.255"],
  ["224.0.0.0", "239.255.255.255"],
  ["240.0.0.0", "255.255.255.255"],
];

/** First and last address of each refused range inside 2000::/3, and the ranges around 2000::/3 and 64:ff9b::/96. */
const REFUSED_IPV6: readonly [string, string][] = [
  ["2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["::", "64:ff9b::ff:ffff"],
  ["64:ff9b::e000:0", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
];

function number4(ip: string): number {
  return ip.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
}

function text4(value: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join(".");
}

function number6(ip: string): bigint {
  const [head = "", tail = ""] = ip.split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail === "" ? [] : tail.split(":");
  const groups = ip.includes("::")
    ? [...before, ...Array<string>(8 - before.length - after.length).fill("0"), ...after]
    : before;
  return groups.reduce((sum, group) => sum * 65_536n + BigInt(`0x${group}`), 0n);
}

function text6(value: bigint): string {
  return Array.from({ length: 8 }, (_, index) => ((value >> BigInt(112 - 16 * index)) & 0xffffn).toString(16)).join(
    ":",
  );
}

describe("IPv4 addresses", () => {
  it.each(REFUSED_IPV4)("%s to %s is refused from first to last", (first, last) => {
    const middle = text4(Math.floor((number4(first) + number4(last)) / 2));
    for (const ip of [first, middle, last]) expect(classifyAddress(ip), ip).toBe("refused");
  });

  it.each(REFUSED_IPV4)("the neighbours of %s to %s are in another range or public", (first, last) => {
    const refused = (value: number) =>
      REFUSED_IPV4.some(([from, to]) => value >= number4(from) && value <= number4(to));
    for (const value of [number4(first) - 1, number4(last) + 1]) {
      if (value < 0 || value > 0xffffffff) continue;
      expect(classifyAddress(text4(value)), text4(value)).toBe(refused(value) ? "refused" : "public");
    }
  });

  it.each(["1.0.0.0", "9.255.255.255", "11.0.0.0", "100.63.255.255", "168.63.129.15", "192.0.1.0", "223.255.255.255"])(
    "%s is public",
    (ip) => {
      expect(classifyAddress(ip)).toBe("public");
    },
  );

  it("have the same result behind NAT64", () => {
    for (const [first, last] of REFUSED_IPV4) {
      for (const ip of [first, last]) expect(classifyAddress(`64:ff9b::${ip}`), ip).toBe("refused");
    }
    for (const ip of ["1.1.1.1", "8.8.8.8", "168.63.129.15", "172.32.0.0", "223.255.255.255"]) {
      expect(classifyAddress(`64:ff9b::${ip}`), ip).toBe("public");
    }
  });
});

describe("IPv6 addresses", () => {
  it.each(REFUSED_IPV6)("%s to %s is refused from first to last", (first, last) => {
    for (const ip of [first, last, text6(number6(first)), text6(number6(last)).toUpperCase()]) {
      expect(classifyAddress(ip), ip).toBe("refused");
    }
  });

  it.each([
    "2000::",
    "2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "2001:200::",
    "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff",
    "2001:db9::",
    "2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "2003::",
    "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "3fff:1000::",
    "3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "2A00:1450:4001::1",
    "64:ff9b::1.0.0.0",
    "64:ff9b::100:0",
    "64:ff9b::dfff:ffff",
  ])("%s is public", (ip) => {
    expect(classifyAddress(ip)).toBe("public");
  });

  it.each(
    [
      ["::", "::1", "::ffff:8.8.8.8", "::ffff:808:808", "::ffff:0:8.8.8.8", "::8.8.8.8", "::7f00:1", "64:ff9b:1::1"],
      ["100::1", "5f00::1", "fc00::1", "fdff::1", "fe80::1", "febf::1", "fec0::1", "ff00::", "ff02::fb", "2001:20::1"],
      ["64:ff9b::1:0:808:808", "64:ff9a:ffff:ffff:ffff:ffff:ffff:ffff"],
    ].flat(),
  )("%s is refused", (ip) => {
    expect(classifyAddress(ip)).toBe("refused");
  });
});

describe("a value that is not a plain literal", () => {
  it.each(
    [
      [
        "",
        " ",
        "8.8.8.8 ",
        " 8.8.8.8",
        "8.8.8",
        "127.1",
        "08.8.8.8",
        "0x8.8.8.8",
        "134744072",
        "8.8.8.8.",
        "8.8.8.8/32",
      ],
      ["[2606:4700::1]", "2606:4700::1%eth0", "2606:4700::1/128", "2606:4700::1::", "2606:4700:::1", "2606:4700::g"],
      ["8.8.8.8\n", "8.8.8.8\0", "example.com", "localhost", "http://8.8.8.8/", "８.8.8.8", "8,8,8,8", "::8.8.8.8.8"],
    ].flat(),
  )("%j is refused, with open lists too", (ip) => {
    expect(classifyAddress(ip)).toBe("refused");
    expect(createEgress({ targets: ["0.0.0.0/0", "::/0"], names: [] }).allowsAddress(ip)).toBe(false);
  });

  it("is refused, and so is a value that is not a string", () => {
    for (const ip of [undefined, null, 0, {}, ["8.8.8.8"]]) {
      expect(classifyAddress(ip as string)).toBe("refused");
    }
  });
});
