import { describe, expect, it } from "vitest";
import { compareValues, lastGoodAt, type Baseline } from "#control-plane/watching/evidence/changes.ts";
import {
  NO_VALUES,
  readComparedValues,
  type ComparedValues,
} from "#control-plane/watching/evidence/compared-values.ts";

const GOOD_AT = new Date("2026-03-01T11:00:00Z");

const findChanges = (...given: Parameters<typeof compareValues>) => compareValues(...given).changed;

function good(facts: Partial<ComparedValues>, location = "eu"): Baseline {
  return { location, goodAt: GOOD_AT, facts: { ...NO_VALUES, ...facts } };
}

function changes(before: Partial<ComparedValues>, after: Partial<ComparedValues>, location = "eu") {
  const found = findChanges("eu", { ...NO_VALUES, ...after }, [good(before, location)]);
  return found.map(({ field, before: was, after: is }) => [field, was, is]);
}

const CERTIFICATE = { fingerprint: "a".repeat(64), issuer: "CN=One", notAfter: "2026-06-01T00:00:00Z" };

describe("what has changed", () => {
  it("is nothing without a good check, and nothing if both say the same", () => {
    expect(findChanges("eu", { ...NO_VALUES, status: 500 }, [])).toEqual([]);
    const same = { addresses: ["192.0.2.1"], status: 200, certificate: CERTIFICATE, phases: { ttfb_ms: 40 } };
    expect(changes(same, same)).toEqual([]);
  });

  it("compares each fact with the newest good check that tells it, and names the time of that check", () => {
    const newest: Baseline = {
      location: "eu",
      goodAt: new Date("2026-03-01T11:59:00Z"),
      facts: { ...NO_VALUES, status: 204, phases: { ttfb_ms: 900 } },
    };
    const older = good({ status: 200, finalUrl: "https://a.example/", phases: { ttfb_ms: 40, transfer_ms: 5 } });
    const now = {
      ...NO_VALUES,
      status: 204,
      finalUrl: "https://b.example/",
      phases: { ttfb_ms: 1_000, transfer_ms: 900 },
    };
    expect(findChanges("eu", now, [older, newest])).toEqual([
      {
        field: "redirect_target",
        before: "https://a.example/",
        after: "https://b.example/",
        last_good_at: GOOD_AT.toISOString(),
      },
      { field: "transfer_ms", before: "5 ms", after: "900 ms", last_good_at: GOOD_AT.toISOString() },
    ]);
    const [change] = findChanges("eu", { ...now, status: 500 }, [older, newest]);
    expect(change).toEqual({ field: "status", before: "204", after: "500", last_good_at: newest.goodAt.toISOString() });
  });

  it("says of each fact with which good check it was compared, changed or not", () => {
    const newest: Baseline = { ...good({ status: 200 }), goodAt: new Date("2026-03-01T11:59:00Z") };
    const full = good({ status: 200, certificate: CERTIFICATE, finalUrl: "https://a.example/" });
    const now = { ...NO_VALUES, status: 500, certificate: CERTIFICATE };
    expect(compareValues("eu", now, [full, newest]).compared).toEqual([
      { field: "certificate", at: GOOD_AT },
      { field: "status", at: newest.goodAt },
    ]);
  });

  it("prefers an older good check of the same location to a newer one of another", () => {
    const elsewhere = { ...good({ status: 204 }, "us"), goodAt: new Date("2026-03-01T11:59:00Z") };
    const [change] = findChanges("eu", { ...NO_VALUES, status: 500 }, [elsewhere, good({ status: 200 })]);
    expect(change?.before).toBe("200");
    expect(lastGoodAt("eu", [elsewhere, good({})])).toEqual(GOOD_AT);
    expect(lastGoodAt("ap", [good({}), elsewhere])).toEqual(elsewhere.goodAt);
    expect(lastGoodAt("ap", [])).toBeNull();
  });

  it("shows a certificate of which only the fingerprint is known by that", () => {
    const bare = { fingerprint: "c".repeat(64), issuer: "", notAfter: "" };
    expect(changes({ certificate: bare }, { certificate: CERTIFICATE })).toEqual([
      ["certificate", "c".repeat(16), `${"a".repeat(16)} of CN=One, valid until 2026-06-01T00:00:00Z`],
    ]);
  });

  it("counts slower redirects", () => {
    expect(changes({ phases: { redirect_ms: 80 } }, { phases: { redirect_ms: 4_000 } })).toEqual([
      ["redirect_ms", "80 ms", "4000 ms"],
    ]);
  });

  it("names the time of the good check", () => {
    const [change] = findChanges("eu", { ...NO_VALUES, status: 500 }, [good({ status: 200 })]);
    expect(change).toEqual({ field: "status", before: "200", after: "500", last_good_at: GOOD_AT.toISOString() });
  });

  it.each([
    ["none are left", ["192.0.2.1"], { addresses: [] }, [["addresses", "192.0.2.1", "none"]]],
    ["none has stayed", ["192.0.2.1"], { addresses: ["192.0.2.2"] }, [["addresses", "192.0.2.1", "192.0.2.2"]]],
    ["one has stayed", ["192.0.2.1", "192.0.2.2"], { addresses: ["192.0.2.2", "192.0.2.3"] }, []],
    [
      "the one in use is new",
      ["192.0.2.1"],
      { addresses: ["192.0.2.1", "192.0.2.9"], address: "192.0.2.9" },
      [["addresses", "192.0.2.1", "192.0.2.1, 192.0.2.9"]],
    ],
  ])("counts addresses if %s", (_, addresses, after, expected) => {
    expect(changes({ addresses }, after)).toEqual(expected);
  });

  it("counts addresses and times of the same location only", () => {
    const before = { addresses: ["192.0.2.1"], status: 200, phases: { ttfb_ms: 10 } };
    const after = { addresses: ["192.0.2.2"], status: 500, phases: { ttfb_ms: 5_000 } };
    expect(changes(before, after, "us")).toEqual([["status", "200", "500"]]);
  });

  it("counts a time only if it is three times as long and 300 ms longer", () => {
    const times = (before: number, after: number) =>
      changes({ phases: { tls_ms: before } }, { phases: { tls_ms: after } });
    expect(times(10, 300)).toEqual([]);
    expect(times(400, 1_100)).toEqual([]);
    expect(times(150, 450)).toEqual([["tls_ms", "150 ms", "450 ms"]]);
  });

  it("compares certificates by fingerprint, and shows issuer and end", () => {
    const other = { ...CERTIFICATE, fingerprint: "b".repeat(64), issuer: "CN=Two" };
    expect(changes({ certificate: CERTIFICATE }, { certificate: other })).toEqual([
      [
        "certificate",
        `${"a".repeat(16)} of CN=One, valid until 2026-06-01T00:00:00Z`,
        `${"b".repeat(16)} of CN=Two, valid until 2026-06-01T00:00:00Z`,
      ],
    ]);
    expect(changes({ certificate: CERTIFICATE }, { certificate: null })).toEqual([]);
  });

  it("lists the most telling first: where names lead, who answers, then how fast", () => {
    const before = {
      addresses: ["192.0.2.1"],
      nameServers: ["ns1.example."],
      certificate: CERTIFICATE,
      status: 200,
      finalUrl: "https://a.example/",
      phases: { connect_ms: 5 },
    };
    const after = {
      addresses: ["192.0.2.2"],
      nameServers: ["ns2.example."],
      certificate: { ...CERTIFICATE, fingerprint: "b".repeat(64) },
      status: 404,
      finalUrl: "https://b.example/",
      phases: { connect_ms: 900 },
    };
    expect(changes(before, after).map(([field]) => field)).toEqual([
      "addresses",
      "name_servers",
      "certificate",
      "status",
      "redirect_target",
      "connect_ms",
    ]);
  });

  it("is printable and short, whatever a target sends", () => {
    const [row] = changes(
      { finalUrl: "https://a.example/" },
      { finalUrl: `https://b.example/\u202e\n${"x".repeat(9_999)}` },
    );
    expect(row?.[2]).toMatch(/^[\x20-\x7e…]{1,300}$/);
  });
});

describe("the facts of a check", () => {
  it("are those of the tools check, ping, ports and dns", () => {
    expect(
      readComparedValues({
        ip: "192.0.2.1",
        addresses: [{ ip: "192.0.2.2" }, { ip: "192.0.2.1" }],
        code: 200,
        final_url: "https://a.example/",
        timing: { redirect_ms: 6, dns_ms: 1, connect_ms: 2, tls_ms: 3, ttfb_ms: 4, transfer_ms: 5 },
        tls: { certificate: { fingerprint_sha256: "ab", issuer: "CN=I", not_after: "z" } },
      }),
    ).toEqual({
      ...NO_VALUES,
      address: "192.0.2.1",
      addresses: ["192.0.2.1", "192.0.2.2"],
      status: 200,
      finalUrl: "https://a.example/",
      certificate: { fingerprint: "ab", issuer: "CN=I", notAfter: "z" },
      phases: { redirect_ms: 6, dns_ms: 1, connect_ms: 2, tls_ms: 3, ttfb_ms: 4, transfer_ms: 5 },
    });
    expect(readComparedValues({ ip: "192.0.2.1", rtt: { avg_ms: 7.4 } }).phases).toEqual({ rtt_ms: 7 });
    expect(readComparedValues({ ip: "192.0.2.1", ports: [{ rtt_ms: 3 }] }).phases).toEqual({ rtt_ms: 3 });
    const records = { results: [{ type: "MX", status: "NOERROR", records: [{ data: "b" }, { data: "a" }] }] };
    expect(readComparedValues(records).records).toEqual(["a", "b"]);
    expect(readComparedValues({ results: [{ type: "MX", status: "SERVFAIL", records: [] }] }).records).toBeNull();
  });

  it.each([null, "x", 5, [], {}, { addresses: "x", timing: 5, tls: [], code: "200" }, { results: [] }])(
    "of %j are none",
    (whole) => {
      expect(readComparedValues(whole)).toEqual(NO_VALUES);
    },
  );
});
