import { describe, expect, it } from "vitest";
import { parseWhois } from "#probe-agent/tools/whois/parse.ts";
import { parseRegistrarName } from "#probe-agent/analysis/registry/whois/registrar.ts";
import { cpuTime } from "#test/support/cpu-time.ts";

const NAMED = { ianaId: null, behind: null, phone: null };

describe("a registrar's name", () => {
  it.each([
    "Example Registrar Inc. (R123-LRMS)",
    "Example Registrar Inc. R66-ASIA",
    "Example Registrar Inc. (R-38)",
    "Example Registrar Inc. #1234",
    "Example Registrar Inc. (#1234567)",
    "Example Registrar Inc. [Tag = EXAMPLE]",
    "Example Registrar Inc. [TAG: EXAMPLE-GB]",
    "Example Registrar Inc. (https://registrar.example)",
    "Example Registrar Inc. (Registrar ID: ABC-12)",
    "Example Registrar Inc. (PANDI ID: example)",
    "Example Registrar Inc. (EX-123) [Tag = EXAMPLE] (http://registrar.example/)",
    "Example Registrar Inc. (xx.example)",
  ])("has no identifier: %j", (text) => {
    expect(parseRegistrarName(text)).toEqual({ ...NAMED, name: "Example Registrar Inc." });
  });

  it.each([
    "Example Registrar (Pty) Ltd",
    "Example Registrar (UK)",
    "Example (trading as Other Example)",
    "Domains 4 Less",
    "Registrar No. 1",
    "1&1 Example SE",
    "R01-RU",
    "123-Example",
    "Example #1",
  ])("is kept: %j", (text) => {
    expect(parseRegistrarName(text).name).toBe(text);
  });

  it("returns IANA's number if the text or the registry's format says that it is one", () => {
    expect(parseRegistrarName("Example Ltd (IANA ID: 292)")).toEqual({ ...NAMED, name: "Example Ltd", ianaId: "292" });
    expect(parseRegistrarName("Example Ltd (292)")).toEqual({ ...NAMED, name: "Example Ltd", behind: "292" });
    const text = "Domain Name:EXAMPLE.AERO\nSponsoring Registrar:Example Ltd R66-ASIA (292)\n";
    const at = (server: string) => parseWhois(text, server).registrar;
    expect(at("whois.aero")).toMatchObject({ name: "Example Ltd", iana_id: "292" });
    expect(parseWhois(text.replace("AERO", "TEST"), "whois.nic.test").registrar).toMatchObject({
      name: "Example Ltd",
      iana_id: null,
    });
  });

  it("returns the telephone number after it", () => {
    expect(parseRegistrarName("ISP Example (+996 312 000000)")).toEqual({
      ...NAMED,
      name: "ISP Example",
      phone: "+996 312 000000",
    });
  });

  it.each(["1960108002", "(R1-LROR)", "", "#1234567"])("is null if there is only an identifier: %j", (text) => {
    expect(parseRegistrarName(text).name).toBeNull();
  });

  it.each([
    ["brackets", `Example ${"(1) ".repeat(60_000)}`],
    ["open brackets", "(".repeat(262_144)],
    ["numbers", `Example ${"#12 ".repeat(60_000)}`],
  ])("is read in a moment: %s", (_, text) => {
    const startedAt = cpuTime();
    parseRegistrarName(text);
    expect(cpuTime() - startedAt).toBeLessThan(1000);
  });
});

describe("the label of a registrar", () => {
  it.each([
    ["Sponsoring Registrar Organization", "whois.id"],
    ["Sponsoring Registrar", "whois.nic.example"],
    ["Sponsoring Registrar Name", "whois.nic.example"],
    ["Registrado por", "whois.nic.ve"],
    ["Registered By", "whois.ja.net"],
    ["Domain support", "whois.domain.kg"],
    ["Current Registar", "whois.nic.kz"],
  ])("is %s at %s", (label, server) => {
    const read = parseWhois(`Domain Name: example.test\n${label}: Example Registrar\n`, server);
    expect(read.registrar).toMatchObject({ name: "Example Registrar" });
  });
});
