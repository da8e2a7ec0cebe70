import { describe, expect, it } from "vitest";
import { factOf, presentExample } from "#test/shared/tools/examples.ts";
import { whois } from "#shared/tools/whois/contract.ts";

describe("the presentation of whois", () => {
  it("begins with the end of the registration and its registrar", () => {
    const shown = presentExample(whois);
    expect(shown.verdict).toBe("good");
    expect(shown.headline).toBe("shop.test is registered until 2031-05-02 (in 4 years) at Example Registrar, Inc.");
    expect(factOf(shown, "Registrar locks")).toBe("deletion, transfer");
  });

  it("says first that a registration has expired or ends soon", () => {
    const ending = (expires: string) => presentExample(whois, () => ({ expires }));
    const expired = ending("2026-11-20T00:00:00.000Z");
    expect(expired).toMatchObject({
      verdict: "bad",
      headline: "The registration of shop.test expired 7 days ago",
    });
    expect(expired.facts[0]).toMatchObject({ label: "Expires", tone: "bad" });
    expect(ending("2026-12-09T18:00:00.000Z").headline).toBe("The registration of shop.test ends in 12 days");
  });

  it("says that a domain on hold does not work, however the registry writes it", () => {
    const holding = (...status: string[]) => presentExample(whois, () => ({ status }));
    for (const printed of ["clientHold", "client hold", "CLIENT_HOLD"])
      expect(holding(printed)).toMatchObject({
        verdict: "bad",
        headline: "shop.test is on hold: its registrar has taken it out of the DNS",
      });
    expect(factOf(holding("ok", "registrar special"), "Status")).toBe("ok (no locks), registrar special");
  });

  it("judges nothing about names that nobody holds", () => {
    const unheld = (state: string) =>
      presentExample(whois, () => ({ state, registered: state === "reserved" ? null : false, registrar: null }));
    expect(unheld("absent")).toMatchObject({ verdict: "neutral", headline: "shop.test is not registered" });
    expect(unheld("reserved").headline).toBe("shop.test is not registered: the registry keeps it back");
    expect(factOf(unheld("reserved"), "Registered")).toBe("the registry does not say");
  });

  it("names block and holder of an address", () => {
    const network = {
      handle: null,
      name: "GOGL",
      type: "DIRECT ALLOCATION",
      parent_handle: null,
      country: "US",
      url: "",
      start_address: "8.8.8.0",
      end_address: "8.8.8.255",
      cidrs: ["8.8.8.0/24"],
      status: ["active"],
      registered_at: "2023-12-28T22:24:33.000Z",
      changed_at: null,
      abuse_email: null,
    };
    const shown = presentExample(whois, () => ({ host: "8.8.8.8", kind: "ip", registrant: null, network }));
    expect(shown).toMatchObject({ verdict: "neutral", headline: "8.8.8.8 is in 8.8.8.0/24, held by GOGL" });
    expect(factOf(shown, "Registered")).toBe("2023-12-28 (2 years ago)");
  });

  it("names the holder of an AS number", () => {
    const shown = presentExample(whois, () => ({ host: "64500", kind: "autnum" }));
    expect(shown).toMatchObject({ verdict: "neutral", headline: "AS64500 is held by Oak & Lumen" });
  });

  it("does not invent what the registry does not state", () => {
    const shown = presentExample(whois, () => ({ expires: null, days_left: null, registrar: null, nameservers: [] }));
    expect(shown.headline).toBe("shop.test is registered; the registry does not say until when");
    expect(factOf(shown, "Name servers")).toBeNull();
    expect(factOf(shown, "Registrar")).toBe("not stated");
  });
});
