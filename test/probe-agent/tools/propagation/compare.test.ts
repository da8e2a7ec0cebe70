import { describe, expect, it } from "vitest";
import {
  gradeRow,
  joinServers,
  summarisePropagation,
  type ComparableAnswer,
  type ResolverRow,
} from "#probe-agent/tools/propagation/compare.ts";

type Server = Parameters<typeof joinServers>[2][number];

function row(answers: readonly string[], more: Partial<ResolverRow> = {}): ResolverRow {
  const asked = {
    name: "Resolver",
    location: "here",
    kind: "public",
    server: "192.0.2.53#53",
    transport: "udp",
  } as const;
  const answer = { status: "NOERROR", ede: [], recheck: null, cname_chain: [], ttl: 60, rtt_ms: 1, error: null };
  return { id: "r0", ...asked, ...answer, answers: [...answers], ...more };
}

function server(ns: string, answers: readonly string[], more: Partial<Server> = {}): Server {
  const said = { ip: "192.0.2.1", status: "NOERROR", ttl: 300, serial: 7, authoritative: true, rtt_ms: 1, error: null };
  return { ns, answers: [...answers], ...said, ...more };
}

const NOW = joinServers("site.test", "www.site.test", [server("ns1", ["192.0.2.1"]), server("ns2", ["192.0.2.1"])]);
const TWO = joinServers("site.test", "two.site.test", [server("ns1", ["192.0.2.1", "192.0.2.2"])]);
const THERE: ComparableAnswer = { status: "NOERROR", answers: ["192.0.2.66"], cname_chain: [], ttl: 300 };
const failing = (status: string, unchecked: string | null = null) =>
  row([], { status, recheck: unchecked === null ? null : { status, unchecked_status: unchecked } });

describe("the answer of a resolver", () => {
  it.each<[what: string, given: ResolverRow, servers: typeof NOW | null, verdict: string, isCurrent: boolean | null]>([
    ["of the domain's servers", row(["192.0.2.1"]), NOW, "match", true],
    ["of a part of rotating addresses", row(["192.0.2.2"]), TWO, "subset", true],
    ["from a cache", row(["198.51.100.7"], { ttl: 120 }), NOW, "stale", false],
    ["with a longer TTL, as before a change", row(["198.51.100.7"], { ttl: 2400 }), NOW, "stale", false],
    ["with the full TTL", row(["203.0.113.5"], { ttl: 300 }), NOW, "differs", false],
    ["that denies a new record", row([], { status: "NXDOMAIN", ttl: 300 }), NOW, "stale", false],
    ["that is empty", row([], { ttl: null }), NOW, "stale", false],
    ["that is an error", failing("SERVFAIL"), NOW, "broken", false],
    ["that is an error, of a domain without servers", failing("SERVFAIL"), null, "broken", null],
    ["that never came", row([], { status: "TIMEOUT", error: "timeout" }), NOW, "error", null],
    ["with nothing to compare it with", row(["192.0.2.1"]), null, "unknown", null],
  ])("%s has a verdict", (_what, given, servers, verdict, isCurrent) => {
    expect(gradeRow(given, servers, new Map())).toMatchObject({ verdict, authoritative_match: isCurrent });
  });

  it("that the servers give to clients of its network is not older", () => {
    expect(gradeRow(row(["192.0.2.66"]), NOW, new Map([["r0", THERE]])).verdict).toBe("geo");
    expect(gradeRow(row(["192.0.2.66"]), NOW, new Map([["r1", THERE]])).verdict).toBe("stale");
  });

  it("ignores what servers without authority say", () => {
    const lame = joinServers("site.test", "www.site.test", [
      server("ns1", ["192.0.2.1"]),
      server("ns2", ["203.0.113.5"], { authoritative: false }),
    ]);
    expect([lame.answers, lame.consistent]).toEqual([["192.0.2.1"], false]);
    expect(gradeRow(row(["203.0.113.5"]), lame, new Map()).verdict).toBe("stale");
  });
});

describe("all answers together", () => {
  const LAGGING = joinServers("site.test", "www.site.test", [
    server("ns1", ["192.0.2.1"]),
    server("ns2", ["198.51.100.1"], { serial: 6 }),
  ]);
  const good = row(["192.0.2.1"]);
  const old = row(["198.51.100.7"], { ttl: 120 });
  const sum = (rows: readonly ResolverRow[], servers: typeof NOW | null) =>
    summarisePropagation(
      rows.map((one, at) => gradeRow({ ...one, id: `r${at}` }, servers, new Map([["r9", THERE]]))),
      servers,
    );

  it.each<[verdict: string, rows: readonly ResolverRow[], servers: typeof NOW | null, agreement: number | null]>([
    ["propagated", [good, good], NOW, 100],
    ["propagated", [row(["192.0.2.2"]), row(["192.0.2.1", "192.0.2.2"])], TWO, 100],
    ["propagating", [good, old], NOW, 50],
    ["propagating", [good], LAGGING, 100],
    ["inconsistent", [good, row(["203.0.113.5"], { ttl: 300 })], NOW, 50],
    ["broken_at_some", [...Array.from({ length: 5 }, () => failing("SERVFAIL")), good, good, good], NOW, 37.5],
    ["broken", [failing("SERVFAIL"), failing("REFUSED")], null, 0],
    ["unknown", [row([], { status: "TIMEOUT" })], NOW, null],
  ])("are %s", (verdict, rows, servers, agreement) => {
    expect(sum(rows, servers)).toMatchObject({ verdict, agreement_pct: agreement });
  });

  it("tell when the last older one expires, and how many resolvers give each", () => {
    const { expected_in_s: seconds, distinct_answers: distinct } = sum([old, good, { ...old, ttl: 2400 }], NOW);
    expect(seconds).toBe(2400);
    expect(distinct).toEqual([
      { answers: ["198.51.100.7"], status: "NOERROR", count: 2, resolvers: ["r0", "r2"] },
      { answers: ["192.0.2.1"], status: "NOERROR", count: 1, resolvers: ["r1"] },
    ]);
  });

  it("name the cause of each failure, the most common first", () => {
    const expired = { ...failing("SERVFAIL"), ede: [{ code: 7, name: null, text: "signature expired" }] };
    const lost = { ...failing("SERVFAIL"), ede: [{ code: 22, name: null, text: "" }] };
    const healed = { ...failing("SERVFAIL"), recheck: { status: "NOERROR", unchecked_status: "NOERROR" } };
    const unsaid = failing("SERVFAIL", "SERVFAIL");
    const rows = [failing("REFUSED"), failing("SERVFAIL", "NOERROR"), expired, lost, healed, unsaid, unsaid, unsaid];
    const { failures } = sum(rows, NOW);
    expect(failures.map(({ cause, resolvers }) => [cause, resolvers])).toEqual([
      ["unknown", ["r5", "r6", "r7"]],
      ["dnssec", ["r1", "r2"]],
      ["refused", ["r0"]],
      ["servers_unreachable", ["r3"]],
      ["intermittent", ["r4"]],
    ]);
    expect(failures[1]?.detail).toContain("Signature Expired (EDE 7)");
    expect(failures[0]?.detail).toBe("The resolver failed and does not report a reason.");
  });
});
