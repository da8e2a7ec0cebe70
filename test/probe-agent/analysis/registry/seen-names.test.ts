import { describe, expect, it } from "vitest";
import {
  readPassiveDns,
  countRegistrable,
  mergeNames,
  readName,
  type SourceName,
} from "#probe-agent/analysis/registry/seen-names.ts";

const name = (host: string, source: SourceName["source"], first: string | null = null, last = first): SourceName => {
  return { host, source, first_seen: first, last_seen: last };
};

describe("the names of an address", () => {
  it("are merged, best source first, with the first and the last time that they were seen", () => {
    const merged = mergeNames([
      name("shop.example.com", "provider", "2017-01-01", "2023-01-01"),
      name("SHOP.example.com.", "observation", "2024-01-01", "2024-02-01"),
      name("bücher.example", "certificate"),
      name("host.example.net", "ptr"),
      name("shop.example.com", "observation", "2024-03-01"),
    ]);
    expect(merged).toEqual([
      { domain: "host.example.net", sources: ["ptr"], first_seen: null, last_seen: null },
      {
        domain: "shop.example.com",
        sources: ["observation", "provider"],
        first_seen: "2017-01-01",
        last_seen: "2024-03-01",
      },
      { domain: "xn--bcher-kva.example", sources: ["certificate"], first_seen: null, last_seen: null },
    ]);
  });

  it.each(["", ".", "a b.test", "x", "127.0.0.1", "evil\r\nHost: x.test", "__proto__", "*.*.test", "x".repeat(400)])(
    "do not include %j",
    (text) => {
      expect(readName(text)).toBeNull();
      expect(mergeNames([name(text, "observation"), name("ok.test", "ptr")])).toHaveLength(1);
    },
  );

  it("belong to as many customers as they have registered domains, also below a private suffix", () => {
    expect(countRegistrable(["a.test", "www.a.test", "*.a.test", "e.github.io", "f.github.io"])).toBe(3);
  });
});

describe("an answer of passive DNS", () => {
  const row = (more: object) => JSON.stringify({ rrname: "a.test", rrtype: "A", rdata: "192.0.2.1", ...more });
  const read = (...lines: readonly string[]) => readPassiveDns(lines.join("\n"), "192.0.2.1");

  it("has the names that led to the address, with times in seconds or in digits", () => {
    const { names, unreadable } = read(
      row({ time_first: 1_600_000_000, time_last: "1650000000" }),
      row({ rrname: "b.test", rdata: ["192.0.2.9", "192.0.2.1"], time_first: "soon" }),
      row({ rrname: "other.test", rdata: "192.0.2.9" }),
      row({ rrname: "text.test", rrtype: "TXT" }),
      "",
    );
    expect(unreadable).toBe(0);
    expect(names).toEqual([
      { host: "a.test", first_seen: "2020-09-13T12:26:40.000Z", last_seen: "2022-04-15T05:20:00.000Z" },
      { host: "b.test", first_seen: null, last_seen: null },
    ]);
  });

  it.each(["<html>", '{"x":1}', "[1]", "null", "7", row({ rrname: 5 }), row({ x: "y".repeat(30_000) })])(
    "cannot be read: %.40s",
    (line) => {
      expect(read(line)).toEqual({ names: [], unreadable: 1 });
    },
  );
});
