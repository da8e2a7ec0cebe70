import { describe, expect, it } from "vitest";
import { blocksOf, blockText, ipText, isIn, readBlock, readIp } from "#probe-agent/analysis/network/ip-numbers.ts";

function rangeText(first: string, last: string, limit = 300): string[] {
  const [from, to] = [readIp(first), readIp(last)];
  if (from === null || to === null) throw new Error("no addresses");
  return blocksOf(from, to, limit).map(blockText);
}

describe("addresses as numbers", () => {
  it.each([
    ["0.0.0.0", 4, 0n],
    ["1.2.3.4", 4, 0x01020304n],
    ["255.255.255.255", 4, 0xffffffffn],
    ["::", 6, 0n],
    ["2001:db8::1", 6, 0x20010db8000000000000000000000001n],
    ["ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", 6, 2n ** 128n - 1n],
  ] as const)("%s is read and written", (text, version, value) => {
    expect(readIp(text)).toEqual({ version, value });
    expect(ipText({ version, value })).toBe(text);
  });

  it("are written in the form of RFC 5952, whatever the input form", () => {
    const written = ["2001:DB8:0:0:0:0:0:1", "2001:db8::0:0:1"].map((text) => readIp(text));
    expect(written.map((ip) => ip && ipText(ip))).toEqual(["2001:db8::1", "2001:db8::1"]);
  });

  it.each(["", "127.1", "1.2.3", "1.2.3.4.5", "01.2.3.4", "256.1.1.1", "0x1.2.3.4", "1.2.3.4 ", "[::1]", "fe80::1%lo"])(
    "%j is no plain literal",
    (text) => {
      expect(readIp(text)).toBeNull();
    },
  );

  it.each(["::1::", ":::", "g::", "1", "example.com", "1.2.3.4/8", "1".repeat(1000)])("nor is %j", (text) => {
    expect(readIp(text)).toBeNull();
  });
});

describe("blocks", () => {
  it("are parsed with the bits after the prefix cleared", () => {
    const texts = ["10.1.2.3/8", "10.1.2.3/32", "0.0.0.0/0", "2001:db8:ffff::/32", "::1/128"];
    expect(texts.map((text) => readBlock(text)).map((block) => block && blockText(block))).toEqual([
      "10.0.0.0/8",
      "10.1.2.3/32",
      "0.0.0.0/0",
      "2001:db8::/32",
      "::1/128",
    ]);
  });

  it.each(["10.0.0.0", "10.0.0.0/33", "::/129", "10.0.0.0/", "/8", "10.0.0.0/-1", "10.0.0.0/8/8", "10/8"])(
    "%j is none",
    (text) => {
      expect(readBlock(text)).toBeNull();
    },
  );

  it("contain the addresses from their first to their last", () => {
    const block = readBlock("172.16.0.0/12");
    const inside = (text: string) => {
      const ip = readIp(text);
      return block !== null && ip !== null && isIn(ip, block);
    };
    expect(["172.16.0.0", "172.31.255.255"].map(inside)).toEqual([true, true]);
    expect(["172.15.255.255", "172.32.0.0", "::ac10:0"].map(inside)).toEqual([false, false, false]);
  });

  it("make up any range, in order and with as few blocks as possible", () => {
    expect(rangeText("8.8.8.0", "8.8.8.255")).toEqual(["8.8.8.0/24"]);
    expect(rangeText("0.0.0.0", "255.255.255.255")).toEqual(["0.0.0.0/0"]);
    expect(rangeText("10.0.0.1", "10.0.0.6")).toEqual(["10.0.0.1/32", "10.0.0.2/31", "10.0.0.4/31", "10.0.0.6/32"]);
    expect(rangeText("2001:db8::", "2001:db8:2:ffff:ffff:ffff:ffff:ffff")).toEqual([
      "2001:db8::/47",
      "2001:db8:2::/48",
    ]);
    expect(rangeText("1.1.1.1", "1.1.1.1")).toEqual(["1.1.1.1/32"]);
  });

  it("are [] for a reversed range or one across versions, and limited for an unaligned one", () => {
    expect(rangeText("8.8.8.9", "8.8.8.8")).toEqual([]);
    expect(rangeText("8.8.8.8", "::ffff")).toEqual([]);
    expect(rangeText("::1", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe")).toHaveLength(254);
    expect(rangeText("::1", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe", 32)).toHaveLength(32);
  });
});
