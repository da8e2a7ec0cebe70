import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ResultOf } from "#shared/tools/define.ts";
import { propagation as contract } from "#shared/tools/propagation/contract.ts";
import { addressOf } from "#test/lab/addresses.ts";
import { createApiClient, type ApiClient } from "#test/lab/ask.ts";
import { startServiceLab, type Lab, type Service } from "#test/lab/lab.ts";
import { whyNoLab } from "#test/lab/namespaces.ts";
import { startResolver } from "#test/lab/services/resolvers.ts";
import { PLACES } from "#test/lab/services/product.ts";
import { GEO_ANSWERS, GEO_SUBNET_ZONE, STALE_ANSWERS, STALE_SERIALS } from "#test/lab/services/zones.ts";
import { LAB, REGIONS } from "#test/lab/topology.ts";
import { endsBy } from "#test/support/deadlines.ts";

const why = whyNoLab();
if (why !== null) console.warn(why);

type Result = ResultOf<typeof contract>;

/** Port of a resolver that does not validate, next to the region's own. */
const UNCHECKED_PORT = 5_300;

/**
 * Public resolvers: one in each region, queried over UDP except for the last, one that does not validate, and one that
 * cannot be reached.
 */
const RESOLVERS = [
  ...REGIONS.map((region) => ({
    id: region,
    name: `Resolver ${region}`,
    location: region,
    address: addressOf(LAB, `resolver-${region}`),
    transport: region === "ap" ? "tcp" : "udp",
  })),
  {
    id: "unchecked",
    name: "Resolver without validation",
    location: "eu",
    address: `${addressOf(LAB, "resolver-eu")}:${UNCHECKED_PORT}`,
    transport: "udp",
  },
  { id: "dead", name: "Nobody", location: "anycast", address: addressOf(LAB, "dns-dead"), transport: "udp" },
];
const SITE = addressOf(LAB, "good");

interface Row {
  readonly what: string;
  readonly domain: string;
  readonly type?: string;
  readonly status?: string;
  /** The same in all regions. */
  readonly answers: readonly string[];
  /** Names of the zone's servers. */
  readonly ns: readonly string[];
  readonly zone: string;
  readonly consistent?: boolean;
  readonly serials?: readonly number[];
}

const BOTH = ["ns1.test", "ns2.test"];

const ROWS: readonly Row[] = [
  { what: "a signed zone", domain: "www.signed.test", answers: [SITE], ns: BOTH, zone: "signed.test" },
  {
    what: "another type",
    domain: "mail.test",
    type: "MX",
    answers: ["10 mx.mail.test.", "20 smtp-plain.lab.test."],
    ns: BOTH,
    zone: "mail.test",
  },
  { what: "no such name", domain: "none.signed.test", status: "NXDOMAIN", answers: [], ns: BOTH, zone: "signed.test" },
  { what: "an alias", domain: "alias.unsigned.test", answers: [SITE], ns: BOTH, zone: "unsigned.test" },
  {
    what: "a secondary that lags behind, but not in this record",
    domain: "www.stale.test",
    answers: [SITE],
    ns: BOTH,
    zone: "stale.test",
    consistent: false,
    serials: [STALE_SERIALS["dns-ns1"], STALE_SERIALS["dns-ns2"]],
  },
];

describe.skipIf(why !== null)("the propagation tool on the table of zones", () => {
  let lab: Lab & { readonly service: Service };
  let api: ApiClient;
  beforeAll(async () => {
    lab = await startServiceLab({ agentSettings: { VANTAGE_RESOLVERS: JSON.stringify(RESOLVERS) } });
    api = await createApiClient(lab.service);
    await startResolver(lab.network, "resolver-eu", lab.names.trustAnchorFile, {
      port: UNCHECKED_PORT,
      validates: false,
    });
  });
  afterAll(() => lab?.close());

  function getResult(domain: string, type = "A"): Promise<Result> {
    return api.getResult<Result>("propagation", { domain, type });
  }

  /** Returns the rows of the other probes by their regions. */
  function elsewhere({ resolvers }: Result, region: "us" | "ap"): Result["resolvers"][number] {
    const named = `Probe in ${PLACES[region].region}`;
    const found = resolvers.find(({ kind, name }) => kind === "agent" && name === named);
    if (found === undefined) throw new Error(`nothing from ${named}`);
    return found;
  }

  function listed({ resolvers }: Result, id: string): Result["resolvers"][number] {
    const found = resolvers.find((row) => row.id === id);
    if (found === undefined) throw new Error(`nothing of ${id}`);
    return found;
  }

  it.concurrent.each(ROWS)("$what: $domain is the same everywhere", async (row) => {
    const { domain, type, status = "NOERROR", answers, ns, zone, consistent = true, serials = [1, 1] } = row;
    const seen = await getResult(domain, type);
    expect(seen).toMatchObject({ verdict: "propagated", consistent: true, agreement_pct: 100, expected_in_s: null });
    expect(seen.distinct_answers).toMatchObject([{ answers, status }]);
    expect(seen.authoritative).toMatchObject({ zone, ns, answers, status, consistent });
    expect(seen.authoritative?.serials).toEqual(ns.map((name, index) => ({ ns: name, serial: serials[index] })));
    const heard = [...REGIONS.map((region) => listed(seen, region)), listed(seen, "own")];
    for (const resolver of [...heard, elsewhere(seen, "us"), elsewhere(seen, "ap")]) {
      expect(resolver).toMatchObject({ status, answers, verdict: "match", authoritative_match: true, error: null });
    }
    expect(heard.map(({ transport }) => transport)).toEqual(["udp", "udp", "tcp", "udp"]);
    // A resolver that cannot be reached says nothing about the zone.
    expect(listed(seen, "dead")).toMatchObject({ status: "TIMEOUT", verdict: "error", error: "timeout", rtt_ms: null });
  });

  it.concurrent("a zone that answers by client subnet: the differences are intended", async () => {
    const seen = await getResult(GEO_SUBNET_ZONE);
    expect(seen).toMatchObject({ verdict: "geo", authoritative: { answers: [GEO_ANSWERS.eu] } });
    expect(listed(seen, "eu")).toMatchObject({ answers: [GEO_ANSWERS.eu], verdict: "match" });
    for (const region of ["us", "ap"] as const) {
      const answer = [GEO_ANSWERS[region]];
      expect(listed(seen, region)).toMatchObject({ answers: answer, verdict: "geo", authoritative_match: true });
      expect(elsewhere(seen, region).answers).toEqual(answer);
    }
    expect(seen.distinct_answers).toHaveLength(3);
  });

  it.concurrent("a zone that answers by sender: the answer of each region, never reported as the same", async () => {
    const seen = await getResult("geo.test");
    // A cache counts down during the run, so an answer of a second ago may look older.
    expect(["inconsistent", "propagating"]).toContain(seen.verdict);
    expect(seen.consistent).toBe(false);
    for (const region of REGIONS) expect(listed(seen, region).answers).toEqual([GEO_ANSWERS[region]]);
    for (const region of ["us", "ap"] as const) {
      expect(["differs", "stale"]).toContain(listed(seen, region).verdict);
      expect(elsewhere(seen, region).answers).toEqual([GEO_ANSWERS[region]]);
    }
  });

  it.concurrent("a secondary with an old record: the answer of each server, and its serial", async () => {
    const seen = await getResult("changed.stale.test");
    expect(seen.verdict).toBe("propagating");
    const [fresh, old] = [STALE_ANSWERS["dns-ns1"], STALE_ANSWERS["dns-ns2"]];
    expect(seen.authoritative).toMatchObject({
      consistent: false,
      answers: [old, fresh],
      servers: [
        { ns: "ns1.test", answers: [fresh], serial: STALE_SERIALS["dns-ns1"], authoritative: true },
        { ns: "ns2.test", answers: [old], serial: STALE_SERIALS["dns-ns2"], authoritative: true },
      ],
    });
    for (const { answers } of seen.distinct_answers) expect([[fresh], [old]]).toContainEqual(answers);
  });

  it.concurrent("a server of the zone that has no data for it is reported as lame", async () => {
    const seen = await getResult("www.half-lame.test");
    expect(seen.authoritative).toMatchObject({ consistent: false, answers: [SITE] });
    const errors = seen.authoritative?.servers.map(({ error, authoritative }) => [error, authoritative]);
    expect(errors).toEqual([
      [null, true],
      ["lame", false],
    ]);
  });

  it.concurrent.each([
    // The code of the resolver's first answer and that from its cache.
    { domain: "www.bogus.test", what: "keys that are not its parent's", codes: [6, 9] },
    { domain: "www.expired.test", what: "expired signatures", codes: [6, 7] },
  ])(
    "$domain is broken at all resolvers that validate, because of $what, and at no other",
    async ({ domain, codes }) => {
      const seen = await getResult(domain);
      expect(seen).toMatchObject({ verdict: "broken_at_some", consistent: false, agreement_pct: 12.5 });
      expect(seen.authoritative).toMatchObject({ answers: [SITE], ns: BOTH });
      expect(listed(seen, "unchecked")).toMatchObject({ status: "NOERROR", verdict: "match", answers: [SITE] });
      const validating = [...REGIONS.map((region) => listed(seen, region)), listed(seen, "own")];
      for (const row of [...validating, elsewhere(seen, "us"), elsewhere(seen, "ap")]) {
        expect(row).toMatchObject({
          status: "SERVFAIL",
          verdict: "broken",
          authoritative_match: false,
          cause: "dnssec",
        });
        for (const { code } of row.ede) expect(codes).toContain(code);
      }
      for (const { recheck } of validating)
        expect(recheck).toEqual({ status: "SERVFAIL", unchecked_status: "NOERROR" });
      expect(seen.failures).toHaveLength(1);
      expect(seen.failures[0]?.resolvers).toHaveLength(7);
      console.log(domain, seen.verdict, seen.agreement_pct, seen.failures);
    },
  );

  it.concurrent.each(["www.dead.test"])("no server answers for %s, which is reported in time", async (domain) => {
    const deadlineMs = contract.deadlineMs({ domain, type: "A" });
    const { status, error } = await endsBy(deadlineMs, () => api.ask<Result>("propagation", { domain }));
    expect({ status, ...error }).toMatchObject({ status: "failed", stage: "dns", reason: "no_answer" });
  });
});
