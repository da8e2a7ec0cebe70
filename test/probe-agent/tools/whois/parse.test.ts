import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseWhois } from "#probe-agent/tools/whois/parse.ts";
import { readWhoisDate } from "#probe-agent/analysis/registry/whois/dates.ts";
import { cpuTime } from "#test/support/cpu-time.ts";

const FOLDER = new URL("../../../fixtures/whois/", import.meta.url);
/** Expected data of each answer. A missing field is null or empty. */
const EXPECTED = JSON.parse(readFileSync(new URL("expected.json", FOLDER), "utf8")) as Record<
  string,
  { readonly server: string; readonly [field: string]: unknown }
>;
const NOTHING = { domain: null, registrar: null, created: null, updated: null, expires: null, holder: null };
const EMPTY = { ...NOTHING, nameservers: [], status: [], registry_domain_id: null, referral: null, registered: null };

function answer(name: string): string {
  return readFileSync(new URL(`${name}.txt`, FOLDER), "utf8");
}

describe("the answer of a registry", () => {
  it.each(Object.keys(EXPECTED))("is parsed: %s", (name) => {
    const { server, ...expected } = EXPECTED[name] ?? { server: "" };
    expect(parseWhois(answer(name), server)).toEqual({ ...EMPTY, created_before: false, ...expected });
  });

  it("is tested for each fixture", () => {
    const files = readdirSync(FOLDER).filter((file) => file.endsWith(".txt"));
    expect(files.map((file) => file.replace(".txt", "")).toSorted()).toEqual(Object.keys(EXPECTED).toSorted());
  });

  it("is the same with CRLF, trailing blanks and tabs", () => {
    const text = answer("verisign");
    const read = parseWhois(text, "whois.verisign-grs.com");
    expect(parseWhois(text.replaceAll("\n", " \t\r\n"), "whois.verisign-grs.com")).toEqual(read);
  });
});

describe("the dates of a domain", () => {
  it("are not those of its contacts, its registrar or its holder", () => {
    const read = parseWhois(
      "domain: example.test\nnserver: ns1.example.test\n\nregistrar: Example\nregistered: 2001-01-01\n\n" +
        "Registrant:\n  Created: 2002-02-02\n  Changed: 2003-03-03\n\nperson: X\ncreated: 2004-04-04\nchanged: 2005-05-05\n",
      "whois.nic.test",
    );
    expect(read).toMatchObject({ registered: true, created: null, updated: null, registrar: { name: "Example" } });
  });
});

describe("a name that nobody holds", () => {
  it.each([
    'No match for "EXAMPLE.COM".',
    "No match!!",
    "NOT FOUND",
    "Not found: example.gg",
    "Domain not found.",
    "No Data Found",
    "No Object Found",
    "No entries found for the selected source(s).",
    "% nothing found",
    "% No entries found in the AFNIC Database.",
    "%ERROR:101: no entries found",
    "example.test is free",
    "example.test is available for registration",
    "example.test no match",
    "Object does not exist",
    "The queried object does not exist: previous registration",
    "The domain has not been registered.",
    "Above domain name is not registered to NIC.",
    'domain "example.se" not found.',
    "Domain Status: No Object Found",
    "Domain Status: Available",
    "Status: Not Registered",
    "Available",
    "No_Se_Encontro_El_Objeto/Object_Not_Found",
    "El dominio no se encuentra registrado en NIC Argentina",
    "We do not have an entry in our database matching your query.",
    "No information was found matching that query.",
    "No such domain example.lu",
    "No Found",
    'Sorry, but domain: "example.uz", not found in database',
  ])("is one by %j", (text) => {
    expect(parseWhois(`${text}\n`, "whois.nic.example").registered).toBe(false);
  });
});

describe("a server that refuses to answer", () => {
  it.each([
    "WHOIS LIMIT EXCEEDED - SEE WWW.PIR.ORG/WHOIS FOR DETAILS",
    "% Query rate limit exceeded",
    "Number of allowed queries exceeded.",
    "You have exceeded your allotted number of queries; no match will be returned",
    "Quota exceeded",
    "Too many requests. Domain not found is not what this means.",
    "%ERROR:201: access denied for 192.0.2.1",
    "55000000002 Connection refused; access control limit reached.",
    "Your connection limit exceeded. Please slow down and try again later.",
    "Requests of this client are not permitted. Please use https://www.nic.ch/whois/ for queries.",
    "Your IP address has been blocked due to abuse",
    "Please try again later.",
    "Server is busy now, please try again later.",
    "Rate limited.",
    "Queried interval is too short.",
    "Your query is too frequent.",
    "-- Excessive querying, grace period of 300 secs",
    "You have been banned for abuse.",
    "Over quota",
    "Throttled",
    "The whois database is currently down for maintenance",
  ])("has not said that the name is free: %j", (text) => {
    const read = parseWhois(`${text}\n`, "whois.nic.example");
    expect(read).toMatchObject({ registered: null, verdict: "limited" });
  });

  it("is not a server whose terms of use mention limits below an answer", () => {
    const terms = "\nTERMS OF USE: access is rate limited; if your query limit is exceeded try again later.\n";
    expect(parseWhois(`No match for "X.TEST".\n${terms}`, "whois.nic.example").registered).toBe(false);
    expect(parseWhois(`${answer("verisign")}${terms}`, "whois.verisign-grs.com").registered).toBe(true);
  });
});

describe("an answer without a statement", () => {
  it.each([
    ["nothing", ""],
    ["blank lines", "\n\n \n"],
    ["legal text", "This service is provided as is.\nAll rights reserved.\n"],
    ["a web page", "<html><head><title>whois</title></head></html>"],
    ["octets", Buffer.from(Uint8Array.from({ length: 5000 }, (_, n) => (n * 7919) % 256)).toString("latin1")],
  ])("is null: %s", (_, text) => {
    expect(parseWhois(text, "whois.nic.example")).toMatchObject({ registered: null, registrar: null, nameservers: [] });
  });

  it("is null for a reserved name too, which nobody holds and nobody can register", () => {
    expect(parseWhois("This name is reserved by the registry.", "x")).toMatchObject({
      registered: null,
      verdict: "reserved",
    });
    expect(parseWhois("This domain cannot be registered because it is prohibited.", "x").verdict).toBe("reserved");
  });
});

describe("a date", () => {
  it.each([
    ["2024-01-02", "2024-01-02T00:00:00.000Z"],
    ["2024-01-02T03:04:05Z", "2024-01-02T03:04:05.000Z"],
    ["2024-01-02T03:04:05.678Z", "2024-01-02T03:04:05.000Z"],
    ["2024-01-02T03:04:05+02:00", "2024-01-02T01:04:05.000Z"],
    ["2024-01-02T03:04:05-0300", "2024-01-02T06:04:05.000Z"],
    ["2024-01-02 03:04:05+02", "2024-01-02T01:04:05.000Z"],
    ["2024-01-02 03:04:05 UTC", "2024-01-02T03:04:05.000Z"],
    ["2024-01-02 03:04:05 CLST", "2024-01-02T06:04:05.000Z"],
    ["2024-01-02 03:04:05 (UTC+8)", "2024-01-01T19:04:05.000Z"],
    ["2024-01-02 03:04:05 (GMT+0:00)", "2024-01-02T03:04:05.000Z"],
    ["2024/01/02 03:04:05 (JST)", "2024-01-01T18:04:05.000Z"],
    ["2024/01/02", "2024-01-02T00:00:00.000Z"],
    ["2024.01.02 13:00:00", "2024-01-02T13:00:00.000Z"],
    ["2024. 01. 02.", "2024-01-02T00:00:00.000Z"],
    ["Tue, 02 Jan 2024 03:04:05 GMT", "2024-01-02T03:04:05.000Z"],
    ["20240102", "2024-01-02T00:00:00.000Z"],
    ["20240102 #12345", "2024-01-02T00:00:00.000Z"],
    ["20240102 03:04:05", "2024-01-02T03:04:05.000Z"],
    ["20240102030405", "2024-01-02T03:04:05.000Z"],
    ["02-Jan-2024", "2024-01-02T00:00:00.000Z"],
    ["02-jan-2024 03:04:05 UTC", "2024-01-02T03:04:05.000Z"],
    ["2 January 2024", "2024-01-02T00:00:00.000Z"],
    ["02 Jan 2024 03:04:05", "2024-01-02T03:04:05.000Z"],
    ["2001-Aug-23.", "2001-08-23T00:00:00.000Z"],
    ["Tue Dec 12 2000", "2000-12-12T00:00:00.000Z"],
    ["Tue Dec 12 03:04:05 GMT 2000", "2000-12-12T03:04:05.000Z"],
    ["January 2 2024", "2024-01-02T00:00:00.000Z"],
    ["01st January 2000 at 00:00:00.000", "2000-01-01T00:00:00.000Z"],
    ["2.1.2024 03:04:05", "2024-01-02T03:04:05.000Z"],
    ["29.02.2024", "2024-02-29T00:00:00.000Z"],
  ])("reads %j", (text, iso) => {
    expect(readWhoisDate(text, "whois.nic.example")).toEqual({ iso, before: false });
  });

  it.each([
    ["before Aug-1996", "1996-08-01T00:00:00.000Z"],
    ["before January 1, 1996", "1996-01-01T00:00:00.000Z"],
    ["before 19950101", "1995-01-01T00:00:00.000Z"],
    ["Before 2001", "2001-01-01T00:00:00.000Z"],
  ])("says that %j is only a bound", (text, iso) => {
    expect(readWhoisDate(text, "whois.nic.uk")).toEqual({ iso, before: true });
  });

  it("with two small numbers depends on the server, and is null if the order is unknown", () => {
    const read = (text: string, server: string) => readWhoisDate(text, server)?.iso.slice(0, 10) ?? null;
    expect(read("03/04/2024", "whois.nic.fr")).toBe("2024-04-03");
    expect(read("03-04-2024", "whois.hkirc.hk")).toBe("2024-04-03");
    expect(read("03/04/2024", "whois.example.us")).toBe("2024-03-04");
    expect(read("03/04/2024", "whois.registrar.com")).toBeNull();
    expect(read("13/04/2024", "whois.example.us")).toBe("2024-04-13");
    expect(read("04/13/2024", "whois.nic.fr")).toBe("2024-04-13");
  });

  it.each(["", "N/A", "30.02.2024", "2024-13-01", "0000-00-00", "9999-01-01", "1.2.3", "soon", "1".repeat(10_000)])(
    "is null for %j",
    (text) => {
      expect(readWhoisDate(text, "whois.nic.fr")).toBeNull();
    },
  );
});

describe("a hostile answer", () => {
  it.each([
    ["name servers without end", "Name Server: ns1.example.test\n".repeat(20_000)],
    ["many name servers on one line", `Domain Name: x.test\nName Server: ${"a.b ".repeat(60_000)}`],
    ["one line", "Domain Name: ".padEnd(262_000, "x")],
    ["keys without end", "a: b\n".repeat(60_000)],
    ["headings without end", "Registrar:\n".repeat(30_000)],
    ["colons", ":".repeat(262_144)],
    ["brackets", "[".repeat(262_144)],
    ["dots", `Domain Name${".".repeat(200_000)}: x`],
    ["labels", `nserver: ${"a-".repeat(100_000)}`],
    ["half a sentence", "exceeded ".repeat(30_000)],
    ["half a date", `created: ${"2024-01-02 ".repeat(20_000)}`],
    ["statuses", "Domain Status: ok x, y, z\n".repeat(10_000)],
    ["blanks", `created:${" ".repeat(262_000)}`],
    ["leaders", `Registrar#${" .".repeat(130_000)}`],
    ["leaders behind a colon", `Registrar:${".".repeat(262_000)}`],
    ["notes behind a registrar", `Domain Name: x.test\nRegistrar: x ${"(1) ".repeat(60_000)}`],
    ["changes", "changed: a b 20240102 (Changed)\n".repeat(8_000)],
    ["names that may be free", `${"a.".repeat(130_000)} is free`],
    ["domains in words", "domain a.test (ok)\n".repeat(13_000)],
  ])("is read in a moment: %s", (_, text) => {
    const startedAt = cpuTime();
    const read = parseWhois(text, "whois.nic.fr");
    expect(cpuTime() - startedAt).toBeLessThan(2000);
    expect(read.nameservers.length).toBeLessThanOrEqual(64);
    expect(read.status.length).toBeLessThanOrEqual(64);
    expect(JSON.stringify(read).length).toBeLessThan(64_000);
  });

  it("adds nothing to the result", () => {
    const read = parseWhois("Domain Name: __proto__\n__proto__: x\nName Server: ns1.a.test\u0000\u001b[31m\n", "x");
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
    expect(JSON.stringify(read)).not.toMatch(/\\u00/);
  });
});
