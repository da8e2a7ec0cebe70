import { describe, expect, it } from "vitest";
import type { CertificateFacts } from "#control-plane/watching/expiry/observed/certificate.ts";
import {
  decideCertificate,
  type CertificateNotice,
} from "#control-plane/watching/expiry/notices/decide-certificate.ts";
import type { Memory } from "#control-plane/watching/expiry/notices/memory.ts";
import { seeded } from "#test/support/seeded.ts";

const DAY_MS = 86_400_000;
const START = Date.parse("2026-01-01T00:00:00Z");

/** A certificate that is valid for the whole test. Its name is its fingerprint. */
const certificate = (name: string): CertificateFacts => ({
  fingerprint: name,
  issuer: `CN=issuer of ${name}`,
  subject: "CN=a.example",
  notBefore: new Date(START - DAY_MS).toISOString(),
  notAfter: new Date(START + 3_650 * DAY_MS).toISOString(),
  names: "",
  trusted: true,
  trustError: null,
});

/** Finds certificates one after the other, `everyMs` apart, and returns the changes as "A>B". */
function changesOf(found: readonly string[], everyMs = DAY_MS): readonly string[] {
  let memory: Memory = [];
  let before: CertificateFacts | null = null;
  const changes: string[] = [];
  for (const [index, name] of found.entries()) {
    const facts = certificate(name);
    const made = decideCertificate(facts, before, memory, START + index * everyMs);
    for (const notice of made.notices) changes.push(`${previousOf(notice)}>${name}`);
    // As it is stored.
    memory = JSON.parse(JSON.stringify(made.memory)) as Memory;
    before = facts;
  }
  return changes;
}

function previousOf(notice: CertificateNotice): string {
  if (notice.type !== "ssl.chain_changed") return notice.type;
  // What is known of the one before is always its own.
  expect(notice.previous.facts?.issuer).toBe(`CN=issuer of ${notice.previous.fingerprint}`);
  return notice.previous.fingerprint;
}

const times = (count: number, name: string) => Array.from({ length: count }, () => name);

describe("another certificate", () => {
  it("is a change once, and the first one is none", () => {
    expect(changesOf(["A"])).toEqual([]);
    expect(changesOf([...times(5, "A"), ...times(5, "B"), ...times(5, "C")])).toEqual(["A>B", "B>C"]);
  });

  it("that is taken back is a change too, whether after a minute or after days", () => {
    for (const days of [1 / 1_440, 1, 6]) {
      expect(changesOf(["A", "B", "A"], days * DAY_MS)).toEqual(["A>B", "B>A"]);
    }
    expect(changesOf([...times(3, "A"), ...times(3, "B"), ...times(30, "A")])).toEqual(["A>B", "B>A"]);
    // Two that are taken back one after the other.
    expect(changesOf(["A", "B", "A", "C", "A"])).toEqual(["A>B", "B>A", "A>C", "C>A"]);
  });

  it("that alternates with the one before is two changes, however long it goes on", () => {
    const alternating = Array.from({ length: 1_000 }, (_, index) => (index % 2 === 0 ? "A" : "B"));
    expect(changesOf(alternating)).toEqual(["A>B", "B>A"]);
    expect(changesOf(alternating, 10 * 60_000)).toEqual(["A>B", "B>A"]);
    // Not at every look.
    expect(changesOf(alternating.flatMap((name) => times(3, name)))).toEqual(["A>B", "B>A"]);
  });

  it("that replaces one of several that alternate is a change", () => {
    const pair = (one: string, two: string) => Array.from({ length: 20 }, () => [one, two]).flat();
    expect(changesOf([...pair("A", "B"), ...pair("A2", "B"), ...pair("A2", "B2")])).toEqual([
      "A>B",
      "B>A",
      "B>A2",
      "A2>B",
      "A2>B2",
      "B2>A2",
    ]);
  });

  it("that is found again after more than a week is a change again", () => {
    expect(changesOf(["A", ...times(8, "B"), ...times(8, "A"), ...times(8, "B")])).toEqual(["A>B", "B>A", "A>B"]);
  });
});

describe("certificates in any order", () => {
  it("of n servers are n - 1 changes to a new one, and at most as many back", () => {
    for (let seed = 1; seed <= 60; seed += 1) {
      const next = seeded(seed);
      const servers = 2 + (next() % 8);
      const found = Array.from({ length: 300 }, () => `S${next() % servers}`);
      const changes = changesOf(found, 60_000 * (1 + (next() % 60)));
      const names = new Set(found);
      const news = changes.filter((change, index) => {
        const to = change.split(">")[1];
        return changes.findIndex((other) => other.endsWith(`>${to}`)) === index && to !== found[0];
      });
      expect(news).toHaveLength(names.size - 1);
      expect(changes.length).toBeLessThanOrEqual(2 * (names.size - 1));
    }
  });

  it("of a server that is renewed now and then are one change each", () => {
    for (let seed = 1; seed <= 40; seed += 1) {
      const next = seeded(seed);
      const renewals = Array.from({ length: 50 }, (_, index) => times(1 + (next() % 20), `R${index}`));
      expect(changesOf(renewals.flat(), 60_000 * (1 + next()))).toHaveLength(49);
    }
  });
});

describe("a certificate above the server's own one", () => {
  const day = (days: number): string => new Date(START + days * DAY_MS).toISOString();
  const above = (name: string, end: number, from = -300) => ({
    role: "intermediate" as const,
    fingerprint: name,
    issuer: "CN=root",
    subject: `CN=${name}`,
    notBefore: day(from),
    notAfter: day(end),
  });
  /** Finds a chain each day, and returns the notices as "day type subject". */
  function noticesOf(chainOn: (at: number) => CertificateFacts, days: number, first: Memory = []): readonly string[] {
    let memory = first;
    return Array.from({ length: days }, (_, at) => at).flatMap((at) => {
      const made = decideCertificate(chainOn(at), null, memory, START + at * DAY_MS);
      memory = JSON.parse(JSON.stringify(made.memory)) as Memory;
      return made.notices.map((notice) => {
        const what = "certificate" in notice ? notice.certificate.subject : "";
        const threshold = notice.type === "ssl.expiring" ? ` ${notice.threshold}` : "";
        return `${at} ${notice.type}${threshold} ${what}`;
      });
    });
  }

  it("is noticed at thresholds of its own, once each, and at its end", () => {
    const chain = { ...certificate("A"), above: [above("I", 20)] };
    expect(noticesOf(() => chain, 30)).toEqual([
      "0 ssl.expiring 30 CN=I",
      "6 ssl.expiring 14 CN=I",
      "13 ssl.expiring 7 CN=I",
      "19 ssl.expiring 1 CN=I",
      "20 ssl.expired CN=I",
    ]);
  });

  it("hides no notice about the server's own one, however long it has ended", () => {
    const chain = { ...certificate("A"), notBefore: day(-80), notAfter: day(10), above: [above("I", -900, -2_000)] };
    expect(noticesOf(() => chain, 4)).toEqual([
      "0 ssl.expired CN=I",
      "0 ssl.expiring 14 CN=a.example",
      "3 ssl.expiring 7 CN=a.example",
    ]);
  });

  it("is noticed once where servers send it in turn with another one", () => {
    const chain = (at: number) => ({ ...certificate("A"), above: [at % 2 === 0 ? above("I", 5) : above("J", 3_000)] });
    expect(noticesOf(chain, 4)).toEqual(["0 ssl.expiring 7 CN=I"]);
  });

  it("begins anew when it is replaced, and under another certificate it is not noticed again", () => {
    const replaced = (at: number) => ({ ...certificate("A"), above: [above(at < 2 ? "I" : "J", 6)] });
    expect(noticesOf(replaced, 4)).toEqual(["0 ssl.expiring 7 CN=I", "2 ssl.expiring 7 CN=J"]);
    const renewed = (at: number) => ({ ...certificate(at < 2 ? "A" : "B"), above: [above("I", 6)] });
    expect(noticesOf(renewed, 4)).toEqual(["0 ssl.expiring 7 CN=I", "2 ssl.chain_changed "]);
  });

  it("is noticed for a monitor whose memory is of an earlier release", () => {
    const old: Memory = [{ identity: "A", foundAt: START - DAY_MS, threshold: null, expired: false }];
    expect(noticesOf(() => ({ ...certificate("A"), above: [above("I", 5)] }), 1, old)).toEqual([
      "0 ssl.expiring 7 CN=I",
    ]);
    expect(noticesOf(() => certificate("A"), 1, old)).toEqual([]);
  });
});
