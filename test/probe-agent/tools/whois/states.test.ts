import { describe, expect, it } from "vitest";
import { parseWhois, type WhoisRecord } from "#probe-agent/tools/whois/parse.ts";

type Verdict = WhoisRecord["verdict"];

/** Sentences of registries by meaning (answers published as test material of WHOIS clients, read on 2026-11-22). */
const SENTENCES: Readonly<Partial<Record<Verdict, readonly (string | readonly [text: string, server: string])[]>>> = {
  absent: [
    "Nincs találat / No match",
    "Nincs tal\ufffdlat / No match",
    "This Domain is not available in our whois database",
    "There is no information available on the domain consulted.",
    "DOMINIO NO REGISTRADO",
    "El dominio example.gt no está registrado",
    "This domain doesn't exist",
    "The domain example.bs has not yet been Registered",
    'Domain "example.rs" - Available',
    "Internal error. Probably object not exists.",
    "example.gm is still available",
    "DOMAIN IS NOT A REGISTERD",
    "Domain example.am not registred.",
    "No exact match for example.tld",
    "Data not found. This domain is available for registration.",
    "No data was found to match the request criteria.",
    "No entries found in the .nc database",
    "*** Nothing found for this query.",
    "NO OBJECT FOUND!\nobject:. . . . . . . .example.dz",
    "Domain name EXAMPLE.BG does not exist in database!",
    "%ERROR:103: Domain is not registered",
    'Status: AVAILABLE (No match for domain "example.nu")',
    "example.cl: no existe",
    "Not Registered - The domain you have requested is not a registered ZA domain name.",
    "No records matching example.bj found.",
    "Key not found",
    "Domain example.sh is available for purchase",
  ],
  reserved: [
    "Name is reserved by afilias",
    "Not available for second level registration.",
    "Sorry, The domain you requested is in the reserved list.",
    "The domain you requested is prohibited.",
    "Reserved by Registry",
    "Reserved Domain Name",
    "Domain reserved",
    "This name is reserved by the Registry in accordance with ICANN Policy.",
    "The registration of this domain is restricted, as it is currently protected by a DPML Block.",
    "This label subscribes to the Uni EPS+ product",
    "This domain can not be registered online",
    "Domain: example.it\nStatus: RESERVED",
    "Domain Status: Registry-Reserved",
    "Status: Blocked",
    ["Domain not available", "whois.fi"],
  ],
  premium: [
    "This premium domain is available for purchase. If you would like to make an offer, please write.",
    "This platinum domain is available for purchase.",
    "This domain name is a premium name",
    "Registry Premium Name",
    "Domain Name: example.test\nDomain Status: premium",
  ],
  unassignable: [
    "Domain: example.it\nStatus: UNASSIGNABLE",
    "Domain is unassignable",
    ["Domain name: example.ca\nDomain status: unavailable", "whois.cira.ca"],
    ["Domain: example.be\nStatus: NOT ALLOWED", "whois.dns.be"],
    ["Domain: example.eu\nStatus: NOT ALLOWED", "whois.eu"],
  ],
  not_assigned: ["Domain: example.test\nStatus: NOT ASSIGNED", "Domain not assigned", "Status: unassigned"],
};
const REGISTERED: Readonly<Partial<Record<Verdict, boolean>>> = { absent: false, premium: false, not_assigned: false };

describe.each(Object.entries(SENTENCES))("a name is %s", (verdict, sentences) => {
  it.each(sentences.map((one) => (typeof one === "string" ? ([one, "whois.nic.example"] as const) : one)))(
    "by %j of %s",
    (text, server) => {
      const registered = REGISTERED[verdict as Verdict] ?? null;
      expect(parseWhois(`${text}\n`, server)).toMatchObject({ verdict, registered });
    },
  );
});

describe("statements about people", () => {
  it.each([
    "Address: NOT AVAILABLE\nPhone: NOT FOUND",
    "Titular: \nHosting Example\n   NOT AVAILABLE    NOT AVAILABLE\n",
    "   Contacto Tecnico: \n      NOT AVAILABLE",
    "Registrant Contact:\n   hosting.example is available\n   not registered",
    "Registrant Name: NOT AVAILABLE",
    "Tech Organization: not found",
    "Admin Contact:\n  Reserved by Example\n  premium domain",
    "Remarks: NOT AVAILABLE",
    "NOT AVAILABLE    NOT AVAILABLE",
  ])("is not said of the domain: %j", (text) => {
    expect(parseWhois(text, "whois.nic.example")).toMatchObject({ verdict: "unknown", registered: null });
  });

  it("does not hide what the registry says about the domain below it", () => {
    const text = "Contact:\n  NOT AVAILABLE\n\nNo match for example.test\n";
    expect(parseWhois(text, "whois.nic.example").verdict).toBe("absent");
  });
});

describe("a status of a name without a holder", () => {
  it("is ignored for a delegated name, and outweighs dates alone", () => {
    const dates = "Domain Name: example.test\nCreation Date: 2020-01-02\nStatus: RESERVED\n";
    expect(parseWhois(dates, "whois.nic.example").verdict).toBe("reserved");
    const held = parseWhois(`${dates}Registrar: Example\nName Server: ns1.example.net\n`, "whois.nic.example");
    expect(held).toMatchObject({ verdict: "registered", status: ["RESERVED"], registrar: { name: "Example" } });
  });

  it("has a different meaning at another registry", () => {
    const status = (word: string, server: string) =>
      parseWhois(`Domain: example.test\nStatus: ${word}\n`, server).verdict;
    expect(status("unavailable", "whois.nic.example")).toBe("registered");
    expect(status("NOT AVAILABLE", "whois.dns.be")).toBe("registered");
    expect(parseWhois("Domain not available\n", "whois.nic.example").verdict).toBe("unknown");
  });

  it("is found only in the registry's table, not among names that objects inherit", () => {
    expect(parseWhois("Domain: example.it\nStatus: constructor\n", "whois.nic.it").verdict).toBe("registered");
  });
});
