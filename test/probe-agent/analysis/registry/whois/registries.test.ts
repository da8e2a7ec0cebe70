import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseWhois } from "#probe-agent/tools/whois/parse.ts";
import { readStampedChange, readWhoisDate } from "#probe-agent/analysis/registry/whois/dates.ts";
import { REGISTRIES, registryFormat } from "#probe-agent/analysis/registry/whois/registries.ts";

function answer(name: string): string {
  return readFileSync(new URL(`../../../../fixtures/whois/${name}.txt`, import.meta.url), "utf8");
}

describe("the format of a registry", () => {
  it("is found by the server, its country, or the name that the answer is about", () => {
    const suffixes = (server: string, domain: string | null = null) => registryFormat(server, domain)?.suffixes;
    expect(suffixes("WHOIS.JA.NET.")).toContain("ac.uk");
    expect(suffixes("whois.nic.ve")).toContain("ve");
    expect(suffixes("127.0.0.1", "example.com.ve")).toContain("ve");
    expect(suffixes("whois.mirror.example", "example.ac.uk")).toContain("ac.uk");
    expect(suffixes("whois.nic.uk", "example.co.uk")).toBeUndefined();
    expect(suffixes("::1", null)).toBeUndefined();
    expect(suffixes("whois.verisign-grs.com", "example.com")).toBeUndefined();
  });

  it("has one entry for each registry", () => {
    const all = REGISTRIES.flatMap(({ suffixes, servers = [] }) => [...suffixes, ...servers]);
    expect(new Set(all).size).toBe(all.length);
  });

  it.each([
    "uy",
    "ve",
    "kg",
    "ac-uk",
    "il",
    "ua-uaepp",
    "ua-uanic",
    "uz",
    "nc",
    "kz",
    "lv",
    "hm",
    "dz",
    "dz-old",
    "es",
    "tn",
    "lu",
    "lu-reserved",
  ])("is the same behind a mirror without a name: %s", (name) => {
    const host = /\.(\w\w)$/.exec(parseWhois(answer(name), "x").domain ?? "")?.[1] ?? "";
    expect(parseWhois(answer(name), "192.0.2.1")).toEqual(
      parseWhois(answer(name), name === "ac-uk" ? "whois.ja.net" : `whois.nic.${host}`),
    );
  });

  it("does not affect the answers of other registries", () => {
    const text = "Domain Name: example.test\nDescr: Example\nUpdated: 2024-01-02\nStatus: ok - Normal state.\n";
    expect(parseWhois(text, "whois.nic.example")).toMatchObject({
      holder: null,
      updated: "2024-01-02T00:00:00.000Z",
      status: ["ok - Normal state."],
    });
  });
});

describe("a name server", () => {
  it("in zone-file form is the host, not the name that it serves", () => {
    const text = "Domain Name: example.pt\nName Server: example.pt NS ns1.example.net.\nName Server: example.pt\n";
    expect(parseWhois(text, "whois.nic.example").nameservers).toEqual(["ns1.example.net", "example.pt"]);
  });
});

describe("a label in two languages", () => {
  it("is read by its English part", () => {
    const text = "Nome / Domain Name: example.test\nData / Creation Date (dd/mm/yyyy): 02/03/2020\nZip/Code: 1\n";
    expect(parseWhois(text, "whois.nic.pt")).toMatchObject({
      domain: "example.test",
      created: "2020-03-02T00:00:00.000Z",
    });
  });
});

describe("a key in brackets", () => {
  it("without a value is not a heading of the next such key", () => {
    const text = "[Domain Name] EXAMPLE.JP\n[Registrant]\n[Created on] 2020/01/02\n[Name Server] ns1.example.net\n";
    expect(parseWhois(text, "whois.jprs.jp")).toMatchObject({ created: "2020-01-02T00:00:00.000Z", holder: null });
  });
});

describe("a date of a registry", () => {
  it.each([
    ["Monday 16th Jun 2031", "2031-06-16T00:00:00.000Z"],
    ["Wednesday 20th March 2024", "2024-03-20T00:00:00.000Z"],
    ["Sun Mar 30 23:59:00 2031", "2031-03-30T23:59:00.000Z"],
    ["28/04/03", "2003-04-28T00:00:00.000Z"],
    ["05/06/98", "1998-06-05T00:00:00.000Z"],
    ["16-abr-1997", "1997-04-16T00:00:00.000Z"],
    ["15-ene-2031", "2031-01-15T00:00:00.000Z"],
    ["31-ago-2024", "2024-08-31T00:00:00.000Z"],
    ["01-dic-2024", "2024-12-01T00:00:00.000Z"],
    ["01/11/2024 23:27:38 EAT", "2024-11-01T20:27:38.000Z"],
  ])("is read: %j", (text, iso) => {
    expect(readWhoisDate(text, "whois.registry.hm")?.iso).toBe(iso);
  });

  it("with two digits in each part is null if the country is not known", () => {
    expect(readWhoisDate("05/06/98", "whois.registrar.com")).toBeNull();
    expect(readWhoisDate("05/06/98", "whois.nic.us")).toBeNull();
  });

  it.each([
    ["registrar AT ns.example 19960111 (Assigned)", { iso: "1996-01-11T00:00:00.000Z", note: "assigned" }],
    ["EXR-UANIC 20230730164230", { iso: "2023-07-30T16:42:30.000Z", note: "" }],
    ["0-UANIC 00000000000000", null],
    ["hostmaster@example.net", null],
    ["x".repeat(100_000), null],
    ["", null],
  ])("stands behind who made the change: %j", (text, change) => {
    expect(readStampedChange(text)).toEqual(change);
  });
});
