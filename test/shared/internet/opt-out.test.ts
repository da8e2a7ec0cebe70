import { describe, expect, it } from "vitest";
import { createEgress, type Denials } from "#shared/internet/egress.ts";
import { MAX_OPT_OUT_ENTRIES, parseOptOut } from "#shared/internet/opt-out.ts";
import { cpuTime } from "#test/support/cpu-time.ts";

function read(text: string): Denials {
  const list = parseOptOut(text);
  if (!list.ok) throw new Error(`line ${list.line}: ${list.message}`);
  return list.denials;
}

describe("an opt-out list", () => {
  it("includes a domain and its subdomains in any spelling", () => {
    const { deniesName } = read("# ours\n\nExample.com # since May\n*.bücher.example\r\n.shop.example.\n");
    for (const name of ["example.com", "a.b.example.com", "xn--bcher-kva.example", "www.shop.example"]) {
      expect(deniesName(name), name).toBe(true);
    }
    for (const name of ["com", "notexample.com", "example.com.evil.example", "example", "."]) {
      expect(deniesName(name), name).toBe(false);
    }
  });

  it("includes addresses and ranges of both families, and IPv4 embedded in IPv6", () => {
    const { deniesAddress } = read("192.0.2.1\n198.51.100.0/24\n10.0.0.0/7\n2001:db8:1::/48\n2001:db8::5\n");
    const inside = ["192.0.2.1", "198.51.100.255", "11.255.0.1", "2001:db8:1:ffff::1", "2001:DB8:0:0::5"];
    const hidden = ["::ffff:192.0.2.1", "64:ff9b::198.51.100.7", "64:ff9b::c633:6407"];
    for (const ip of [...inside, ...hidden]) expect(deniesAddress(ip), ip).toBe(true);
    const outside = ["192.0.2.2", "198.51.101.0", "12.0.0.1", "2001:db8:2::1", "64:ff9b::1.1.1.1", "fe80::1%eth0", "x"];
    for (const ip of outside) expect(deniesAddress(ip), ip).toBe(false);
  });

  it.each([
    ["example.com\n\nhttp://example.com/\n", 3],
    ["192.0.2.0/33", 1],
    ["one.example two.example", 1],
    [`a.example\n${"x".repeat(1_001)}`, 2],
    ["a.example\n".repeat(MAX_OPT_OUT_ENTRIES + 1), MAX_OPT_OUT_ENTRIES + 1],
  ])("names the invalid line: %.40j", (text, line) => {
    expect(parseOptOut(text)).toMatchObject({ ok: false, line });
  });

  it("has the same lookup cost at any length", () => {
    const lines = Array.from(
      { length: 100_000 },
      (_, at) => `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}\nd${at}.example`,
    );
    const { deniesAddress, deniesName } = read(lines.join("\n"));
    const startedAt = cpuTime();
    for (let round = 0; round < 10_000; round += 1) {
      expect(deniesAddress("192.0.2.9") || deniesName("www.other.example")).toBe(false);
    }
    expect(cpuTime() - startedAt).toBeLessThan(5_000);
  });
});

describe("egress with an opt-out list", () => {
  const denials = read("closed.example\n127.0.0.9\n93.184.0.0/16\n");
  const egress = createEgress({ targets: ["127.0.0.0/8"], names: ["closed.example", "lab.internal"] }, denials);

  it("refuses names, literals and resolved addresses on it, even if the allow lists have them", () => {
    expect(egress.checkUrl("https://www.closed.example/")).toEqual({ ok: false, code: "target_not_allowed" });
    expect(egress.checkUrl("http://127.0.0.9/")).toEqual({ ok: false, code: "target_not_allowed" });
    expect(egress.checkUrl("http://0x7f000009/")).toEqual({ ok: false, code: "target_not_allowed" });
    expect(egress.checkHost("closed.example", { connects: false })).toMatchObject({ ok: false });
    expect(egress.allowsAddress("93.184.216.34")).toBe(false);
    expect(egress.allowsAddress("127.0.0.9")).toBe(false);
  });

  it("does not change anything else", () => {
    expect(egress.allowsAddress("127.0.0.8")).toBe(true);
    expect(egress.checkUrl("https://open.example/")).toMatchObject({ ok: true });
    expect(egress.checkHost("db.lab.internal", { connects: true })).toMatchObject({ ok: true });
  });

  it("reports what the operator's own lists contain, public or not", () => {
    const own = createEgress({ targets: ["127.0.0.0/8", "8.8.8.0/24"], names: ["corp.example"] });
    expect(["127.0.0.1", "8.8.8.8", "www.corp.example"].map((host) => own.lists(host))).toEqual([true, true, true]);
    expect(["1.1.1.1", "example.com", "::1"].map((host) => own.lists(host))).toEqual([false, false, false]);
  });
});
