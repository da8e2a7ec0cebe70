import { describe, expect, it } from "vitest";
import { mergeBaselines } from "#control-plane/watching/evidence/baselines/merge.ts";
import { NO_VALUES, type ComparedValues } from "#control-plane/watching/evidence/compared-values.ts";
import {
  decodeGoodCheck,
  encodeGoodCheck,
  type GoodCheck,
  type StoredGoodCheck,
} from "#control-plane/watching/checking/snapshots/good-check.ts";

const HTTP = { url: "https://shop.example/", checkType: "http" };
const OLDER = new Date("2026-03-01T11:05:00Z");
const NEWER = new Date("2026-03-01T11:59:00Z");
const A = "a".repeat(64);
const B = "b".repeat(64);
const CERTIFICATE = { fingerprint: A, issuer: "CN=One", notAfter: "2026-06-01T00:00:00Z" };
const CHECK: GoodCheck = {
  httpStatus: 200,
  responseMs: 42,
  phases: { redirect_ms: 0, dns_ms: 1.5, connect_ms: 10, tls_ms: 20.25, processing_ms: 30 },
  fingerprint: A,
};

function short(over: Partial<GoodCheck> = {}, location = "eu") {
  const good = decodeGoodCheck(encodeGoodCheck({ ...CHECK, ...over }));
  if (good === null) throw new Error("it cannot be read");
  return { location, goodAt: NEWER, good };
}

const full = (facts: Partial<ComparedValues>, location = "eu") => ({
  location,
  goodAt: OLDER,
  facts: { ...NO_VALUES, ...facts },
});

describe("the newest good check of a location", () => {
  it("tells status, times and certificate, and keeps its time beside that of the full one", () => {
    const merged = mergeBaselines(
      HTTP,
      [full({ finalUrl: HTTP.url, certificate: CERTIFICATE, status: 201 })],
      [short()],
    );
    expect(merged.map(({ goodAt }) => goodAt)).toEqual([NEWER, OLDER]);
    expect(merged[0]?.facts).toEqual({
      ...NO_VALUES,
      status: 200,
      phases: { redirect_ms: 0, dns_ms: 1.5, connect_ms: 10, tls_ms: 20.25, ttfb_ms: 30 },
      certificate: CERTIFICATE,
    });
  });

  it("has a new certificate by its fingerprint only", () => {
    const [merged] = mergeBaselines(HTTP, [full({ certificate: CERTIFICATE })], [short({ fingerprint: B })]);
    expect(merged?.facts.certificate).toEqual({ fingerprint: B, issuer: "", notAfter: "" });
  });

  it("has none where redirects end at another host, whose certificate the full one has", () => {
    const known = full({ certificate: CERTIFICATE, finalUrl: "https://login.example/" });
    const [merged] = mergeBaselines(HTTP, [known], [short({ fingerprint: B })]);
    expect(merged?.facts.certificate).toBeNull();
  });

  it.each(["ping", "port"])("of a %s monitor tells the round trip", (checkType) => {
    const check = { phases: null, httpStatus: null, fingerprint: null };
    const [merged] = mergeBaselines({ url: "shop.example", checkType }, [], [short(check)]);
    expect(merged?.facts).toEqual({ ...NO_VALUES, phases: { rtt_ms: 42 } });
  });
});

describe("the text of a good check", () => {
  it.each<[string, Partial<GoodCheck>]>([
    ["all of it", {}],
    ["nothing but that it was good", { httpStatus: null, responseMs: null, phases: null, fingerprint: null }],
    ["no certificate", { fingerprint: null }],
  ])("keeps %s", (_, over) => {
    const check = { ...CHECK, ...over };
    const seconds =
      check.phases === null
        ? null
        : [
            ["redirect", 0],
            ["dns", 0.0015],
            ["connect", 0.01],
            ["tls", 0.02025],
            ["processing", 0.03],
          ];
    expect(decodeGoodCheck(encodeGoodCheck(check))).toEqual({ ...check, phases: seconds } as StoredGoodCheck);
    expect(encodeGoodCheck(check).length).toBeLessThan(110);
  });

  it.each(["", "200", "200;1;2", "a;b;c;d;e"])("is not read from %j", (text) => {
    expect(decodeGoodCheck(text)).toBeNull();
  });

  it("leaves out what an agent made up", () => {
    expect(decodeGoodCheck(encodeGoodCheck({ ...CHECK, fingerprint: "x;y" }))?.fingerprint).toBeNull();
    expect(decodeGoodCheck("x;-1;1,2;zz")).toEqual({
      httpStatus: null,
      responseMs: null,
      phases: null,
      fingerprint: null,
    });
  });
});
