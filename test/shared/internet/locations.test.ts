import { describe, expect, it } from "vitest";
import { CONTINENTS, continentOf } from "#shared/internet/continents.ts";
import { matches, matchesTerm, parseLocations, type LocationItem, type Place } from "#shared/internet/locations.ts";

const paris: Place = {
  probe_id: "Probe-Paris-1",
  region: "eu-west",
  country: "FR",
  city: "Paris",
  asn: 64_500,
  latitude: 48.9,
  longitude: 2.4,
  tags: ["datacenter", "ipv6"],
};
const saoPaulo: Place = {
  ...paris,
  probe_id: "probe-sp",
  region: "sa-east",
  country: "BR",
  city: "São Paulo",
  asn: null,
};
const nowhere: Place = {
  ...paris,
  probe_id: "probe-x",
  region: "local",
  country: null,
  city: null,
  asn: null,
  tags: [],
};

function items(raw: string | readonly string[]): readonly LocationItem[] {
  const parsed = parseLocations(raw);
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.items;
}

function item(raw: string): LocationItem {
  const [first] = items(raw);
  if (first === undefined) throw new Error("no item");
  return first;
}

describe("parsing a location expression", () => {
  it("parses a comma-separated list and an array in the same way", () => {
    expect(items("eu-west, us:2 ,all")).toEqual(items(["eu-west", " us:2 ", "all"]));
    expect(items("eu-west,us:2,all").map(({ text, kind, count }) => [text, kind, count])).toEqual([
      ["eu-west", "some", 1],
      ["us:2", "some", 2],
      ["all", "all", 1],
    ]);
  });

  it("joins terms with a plus or with spaces, which a plus in a query string becomes", () => {
    for (const text of ["eu+datacenter+!AS64500:3", "eu datacenter !as64500:3", " EU + Datacenter  +!As64500:3 "]) {
      expect(item(text)).toMatchObject({
        kind: "some",
        count: 3,
        terms: [
          { kind: "word", word: "eu", negated: false },
          { kind: "word", word: "datacenter", negated: false },
          { kind: "asn", asn: 64_500, negated: true },
        ],
      });
    }
  });

  it("reads the digits after probe: as an id, not a count", () => {
    expect(item("probe:12345678")).toMatchObject({ count: 1, terms: [{ kind: "probe", id: "12345678" }] });
    expect(item("eu+!probe:12345678")).toMatchObject({ count: 1, terms: [{}, { kind: "probe", negated: true }] });
    expect(item("eu+!probe:12345678:2")).toMatchObject({ count: 2 });
  });

  it("reads a single negated term as a removal, stored positive", () => {
    expect(items("all,!eu")[1]).toEqual({
      text: "!eu",
      kind: "remove",
      terms: [{ kind: "word", word: "eu", negated: false }],
      count: 1,
    });
    expect(item("!eu+!datacenter").kind).toBe("some");
  });

  it("accepts terms with all and nearest, and a count with nearest", () => {
    expect(item("all+datacenter")).toMatchObject({ kind: "all", terms: [{ word: "datacenter" }] });
    expect(item("Nearest:3")).toMatchObject({ kind: "nearest", terms: [], count: 3 });
  });

  it.each([
    ["", "empty"],
    ["   ", "empty"],
    ["eu,,us", "empty"],
    ["eu,", "empty"],
    ["+", "empty"],
    [":2", "empty"],
    ["eu:0", "count is between"],
    ["eu:1001", "count is between"],
    ["eu:999999999", "count is between"],
    ["eu:", "consists of"],
    ["eu:x", "consists of"],
    ["eu:-1", "consists of"],
    ["eu:2+us", "consists of"],
    ["eu:2:3", "consists of"],
    ["all:2", "all takes no count"],
    ["all+nearest", "and not both"],
    ["all+all", "and not both"],
    ["!all", "cannot be negated"],
    ["eu+!nearest", "cannot be negated"],
    ["all,!eu:2", "takes no count"],
    ["probe:abcdefgh:2", "probe:<id> takes no count"],
    ["probe:", "consists of"],
    ["probe:a/b", "consists of"],
    ["AS4294967296", "AS number"],
    ["!", "consists of"],
    ["!!eu", "consists of"],
    ["eu;us", "consists of"],
    ["<script>", "consists of"],
    ["--", "consists of"],
    ["!eu", "nothing to remove from"],
    ["!eu,!us", "nothing to remove from"],
    ["a+b+c+d+e+f+g+h+i+j+k", "at most 10 terms"],
    ["x".repeat(201), "at most 200 characters"],
    [Array<string>(51).fill("eu").join(","), "at most 50 items"],
    [",".repeat(1_000_000), "at most 50 items"],
  ])("rejects %j", (raw, message) => {
    const parsed = parseLocations(raw);
    expect(parsed).toMatchObject({ ok: false, message: expect.stringContaining(message) as string });
    expect(parsed.ok ? 0 : parsed.item.length).toBeLessThanOrEqual(200);
  });

  it("rejects arrays of other values, empty ones and commas inside an item", () => {
    for (const raw of [[], [7], [null], ["eu", ["us"]], { eu: 1 }, null, ["eu,us"]]) {
      expect(parseLocations(raw as unknown as string[]).ok).toBe(false);
    }
  });

  it("names the invalid item", () => {
    expect(parseLocations("eu,us:0,asia")).toMatchObject({ ok: false, item: "us:0" });
  });
});

describe("matching a place", () => {
  it.each(
    [
      ["eu-west", "EU-West", "fr", "FR", "europe", "Europe", "paris", "PARIS", "as64500", "AS64500", "datacenter"],
      ["IPv6", "probe:probe-paris-1", "probe:PROBE-PARIS-1", "fr+datacenter", "europe as64500 ipv6", "europe+!de"],
      ["!de+!asia", "all", "nearest", "all+fr"],
    ].flat(),
  )("%s is in Paris", (text) => {
    expect(matches(paris, item(text))).toBe(true);
  });

  it.each(
    [
      ["eu", "west", "de", "asia", "par", "as64501", "as6450", "home", "probe:probe-paris", "fr+home", "europe+!fr"],
      ["all+de", "north-america"],
    ].flat(),
  )("%s is not in Paris", (text) => {
    expect(matches(paris, item(text))).toBe(false);
  });

  it.each(["são-paulo", "sao-paulo", "Sao-Paulo", "SÃO-PAULO", "sa\u0303o-paulo"])("%s is the city", (text) => {
    expect(matches(saoPaulo, item(text))).toBe(true);
    expect(matches(saoPaulo, item(`${text}+south-america+!europe`))).toBe(true);
  });

  it("does not match a place with an unknown location", () => {
    expect(matches(nowhere, item("local"))).toBe(true);
    for (const text of ["fr", "europe", "paris", "as0", "null"]) expect(matches(nowhere, item(text)), text).toBe(false);
    expect(matches(nowhere, item("!fr+!as64500"))).toBe(true);
  });

  it("negates each term separately", () => {
    expect(matchesTerm(paris, { kind: "word", word: "fr", negated: false })).toBe(true);
    expect(matchesTerm(paris, { kind: "word", word: "fr", negated: true })).toBe(false);
  });
});

describe("continents", () => {
  it("include every region code that the runtime's locale data treat as a country", () => {
    const names = new Intl.DisplayNames("en", { type: "region", fallback: "none" });
    // Codes with a name that are not countries of ISO 3166-1: unions, outliers, exceptional reservations, private use.
    const others = new Set("AC CP CQ DG EA EU EZ IC QO TA UN XA XB ZZ".split(" "));
    const letters = Array.from("ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    const codes = letters.flatMap((one) => letters.map((other) => one + other));
    const canonical = (code: string) => new Intl.Locale(`und-${code}`).maximize().region === code;
    for (const code of codes) {
      const isCountry = names.of(code) !== undefined && !others.has(code) && canonical(code);
      expect(continentOf(code) !== null, code).toBe(isCountry);
    }
  });

  it("are seven, and each has countries", () => {
    expect(["EG", "AQ", "JP", "DE", "US", "NZ", "BR"].map(continentOf)).toEqual(CONTINENTS);
    expect([continentOf("XX"), continentOf("us"), continentOf("")]).toEqual([null, null, null]);
  });
});
