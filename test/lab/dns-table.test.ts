import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ResultOf } from "#shared/tools/define.ts";
import type { dns as contract } from "#shared/tools/dns/contract.ts";
import { addressOf } from "#test/lab/addresses.ts";
import { delv, dig, resolverOf, type DelvVerdict } from "#test/lab/dig.ts";
import { startServiceLab, type Lab, type Service } from "#test/lab/lab.ts";
import { whyNoLab } from "#test/lab/namespaces.ts";
import { PLACES, startAgent } from "#test/lab/services/product.ts";
import { startResolver } from "#test/lab/services/resolvers.ts";
import { GEO_ANSWERS, MANY_TEXTS, STALE_SERIALS } from "#test/lab/services/zones.ts";
import { LAB, REGIONS } from "#test/lab/topology.ts";

const why = whyNoLab();
if (why !== null) console.warn(why);

type Result = ResultOf<typeof contract>;
type Verdict = NonNullable<Result["dnssec"]>;

/** A zone of the table with the expected result for a name in it. */
interface Row {
  readonly what: string;
  readonly name: string;
  readonly type: "A" | "MX" | "TXT";
  readonly status: string;
  /** Status from a resolver without a validator. Default: the same. */
  readonly unvalidated?: string;
  readonly verdict: DelvVerdict;
  readonly denial?: Verdict["denial"];
  readonly reason: RegExp;
  /** Extended DNS Error of a fresh validation. */
  readonly ede?: number;
  readonly records?: number;
}

const NO_DS = (zone: string): RegExp => RegExp(`The parent proves with NSEC that ${zone} has no DS record`);
const SIGNED = "has no record of this type";

const ROWS: readonly Row[] = [
  row("a signed zone", "www.signed.test", "A", "secure", /Signed by signed\.test/, { records: 1 }),
  row("no data, by NSEC", "www.signed.test", "MX", "secure", RegExp(`signed\\.test proves .* ${SIGNED}`), {
    denial: "nsec",
  }),
  row("no name, by NSEC", "none.signed.test", "A", "secure", /proves that none\.signed\.test does not exist/, {
    status: "NXDOMAIN",
    denial: "nsec",
  }),
  row("a zone with NSEC3", "www.nsec3.test", "A", "secure", /Signed by nsec3\.test/, { records: 1 }),
  row("no data, by NSEC3", "www.nsec3.test", "MX", "secure", RegExp(`nsec3\\.test proves .* ${SIGNED}`), {
    denial: "nsec3",
  }),
  row("no name, by NSEC3", "none.nsec3.test", "A", "secure", /proves that none\.nsec3\.test does not exist/, {
    status: "NXDOMAIN",
    denial: "nsec3",
  }),
  row("an unsigned zone", "www.unsigned.test", "A", "insecure", NO_DS("unsigned.test"), { records: 1 }),
  row("no name in an unsigned zone", "none.unsigned.test", "A", "insecure", NO_DS("unsigned.test"), {
    status: "NXDOMAIN",
  }),
  row("an alias in an unsigned zone", "alias.unsigned.test", "A", "insecure", NO_DS("unsigned.test"), { records: 1 }),
  row("many texts, over TCP after a cut answer", "many.unsigned.test", "TXT", "insecure", NO_DS("unsigned.test"), {
    records: MANY_TEXTS,
  }),
  row(
    "a zone whose DS is of another key",
    "www.bogus.test",
    "A",
    "bogus",
    /DS records of bogus\.test do not match the zone's keys/,
    {
      status: "SERVFAIL",
      unvalidated: "NOERROR",
      ede: 9,
    },
  ),
  row("an expired signature", "www.expired.test", "A", "bogus", /expired at \d{4}-\d\d-\d\dT/, {
    status: "SERVFAIL",
    unvalidated: "NOERROR",
    ede: 7,
  }),
  row("a lame zone", "www.lame.test", "A", "indeterminate", /A: SERVFAIL, SERVFAIL with checking disabled/, {
    status: "SERVFAIL",
  }),
  row("a zone with one lame server of two", "www.half-lame.test", "A", "insecure", NO_DS("half-lame.test"), {
    records: 1,
  }),
  row("aliases in a circle", "loop-1.unsigned.test", "A", "indeterminate", /SERVFAIL/, { status: "SERVFAIL" }),
];

function row(
  what: string,
  name: string,
  type: Row["type"],
  verdict: Row["verdict"],
  reason: RegExp,
  more: Partial<Row>,
): Row {
  return { what, name, type, verdict, reason, status: "NOERROR", ...more };
}

const PLAIN_PORT = 5300;
const VALIDATING = PLACES.eu.region;
const PLAIN = "plain";

describe.skipIf(why !== null)("the dns tool on the table of zones", () => {
  let lab: Lab & { readonly service: Service };
  let key = "";
  beforeAll(async () => {
    lab = await startServiceLab();
    const { network, names, web, service } = lab;
    const files = { trustAnchorFile: names.trustAnchorFile, rootFile: web.rootFile };
    await startResolver(network, "resolver-eu", names.trustAnchorFile, { port: PLAIN_PORT, validates: false });
    const servers = { VANTAGE_DNS_SERVERS: `${resolverOf(network, "eu")}:${PLAIN_PORT}` };
    await startAgent(network, "eu", service.planes, files, servers, { ...PLACES.eu, region: PLAIN });
    key = await service.plane.createKey();
  });
  afterAll(() => lab?.close());

  interface Answer {
    readonly summary: { readonly consistent: boolean };
    readonly locations: readonly { readonly location: { readonly region: string }; readonly data: Result }[];
  }

  async function check(name: string, type: string, places: readonly string[]): Promise<Answer> {
    const query = `domain=${name}&types=${type}&dnssec=1&locations=${places.join(",")}`;
    const { text, status, body } = await lab.service.plane.call(`/api/v4/dns?${query}`, { key });
    expect(status, text).toBe(200);
    return body.data;
  }

  async function checkFrom(name: string, type: string, place: string): Promise<Checked> {
    const { locations } = await check(name, type, [place]);
    const data = locations[0]?.data;
    const [first] = data?.results ?? [];
    if (data === undefined || first === undefined || data.dnssec === null) throw new Error(JSON.stringify(locations));
    return { data, first, dnssec: data.dnssec };
  }

  interface Checked {
    readonly data: Result;
    readonly first: Result["results"][number];
    readonly dnssec: Verdict;
  }

  /** Compares records, flags, counts and code with dig's, and the DNSSEC result with delv's. Nothing may differ. */
  async function compare({ name, type, verdict }: Row, { first }: Checked, port: number): Promise<void> {
    const { network, names } = lab;
    const ip = resolverOf(network, "eu");
    const anchorFile = names.delvAnchorFile;
    const [dug, delved] = await Promise.all([
      dig(network, "probe-eu", ip, { name, type }, ["-p", `${port}`]),
      delv(network, "probe-eu", { ip, port, anchorFile }, { name, type }),
    ]);
    expect({
      status: first.status,
      flags: first.flags,
      counts: first.counts,
      data: first.records.map(({ data }) => data).toSorted(),
      ede: first.ede.map(({ code }) => code),
      nsid: first.nsid?.text ?? null,
      transport: first.transport.toUpperCase(),
    }).toEqual(dug);
    expect(delved.verdict, delved.text).toBe(verdict);
  }

  it.each(ROWS)("$what: $name $type, through a resolver that validates", async (each) => {
    const zone = each.name.split(".").slice(1).join(".");
    await lab.resolvers.flush(zone);
    const checked = await checkFrom(each.name, each.type, VALIDATING);
    const { first, dnssec } = checked;
    expect({ status: first.status, records: first.records.length }).toEqual({
      status: each.status,
      records: each.records ?? 0,
    });
    expect(dnssec).toMatchObject({ status: each.verdict, denial: each.denial ?? null });
    expect(dnssec.validated_by).toBe(each.verdict === "indeterminate" ? null : "local");
    expect(dnssec.reasons[0]).toMatch(each.reason);
    expect(first.ede.map(({ code }) => code)).toEqual(each.ede === undefined ? [] : [each.ede]);
    expect(first.flags.ad).toBe(each.verdict === "secure");
    expect(first.transport).toBe(each.records === MANY_TEXTS ? "tcp" : "udp");
    // A cached failure has another code, so it must be fresh for dig too.
    await lab.resolvers.flush(zone);
    await compare(each, checked, 53);
  });

  it.each(ROWS)("$what: $name $type, through a resolver that does not", async (each) => {
    const checked = await checkFrom(each.name, each.type, PLAIN);
    const { first, dnssec } = checked;
    expect(first.status).toBe(each.unvalidated ?? each.status);
    expect(first.flags.ad).toBe(false);
    expect(dnssec).toMatchObject({ status: each.verdict, denial: each.denial ?? null });
    expect(dnssec.validated_by).toBe(each.verdict === "indeterminate" ? null : "local");
    expect(dnssec.reasons[0]).toMatch(each.reason);
    await compare(each, checked, PLAIN_PORT);
  });

  it("reports that the aliases form a loop, although the resolver only fails", async () => {
    for (const place of [VALIDATING, PLAIN]) {
      const { data } = await checkFrom("loop-1.unsigned.test", "A", place);
      const circle = "loop-1.unsigned.test, loop-2.unsigned.test, loop-1.unsigned.test";
      expect(data.limitations).toEqual([`A: the aliases (CNAME) lead in a circle: ${circle}`]);
    }
  });

  it("reports that the servers of a zone do not answer, and not that they fail", async () => {
    const { locations } = await check("www.dead.test", "A", [VALIDATING, PLAIN]);
    for (const { data } of locations) {
      expect(data.results[0]).toMatchObject({ status: "TIMEOUT", rtt_ms: null, records: [] });
      expect(data.dnssec).toMatchObject({ status: "indeterminate", validated_by: null, reasons: ["A: TIMEOUT"] });
    }
    expect(locations).toHaveLength(2);
  });

  it.each(["dns_udp", "dns_tcp"])(
    "detects a secondary with old data if each server is queried by %s",
    async (module) => {
      const serialOf = async (server: string): Promise<number> => {
        const query = new URLSearchParams({ module, target: server, query_name: "stale.test", query_type: "SOA" });
        const { text } = await lab.service.plane.call(`/api/v4/probe?${query.toString()}&region=${VALIDATING}`, {
          key,
        });
        expect(text).toContain("\nprobe_success 1\n");
        return Number(/^probe_dns_serial (\d+)$/m.exec(text)?.[1]);
      };
      for (const [server, serial] of Object.entries(STALE_SERIALS)) {
        const addresses = [addressOf(LAB, server, 4), `[${addressOf(LAB, server, 6)}]`];
        expect(await Promise.all(addresses.map(serialOf))).toEqual([serial, serial]);
      }
    },
  );

  it("returns for each region the answer meant for it, and that they differ", async () => {
    const places = REGIONS.map((region) => PLACES[region].region);
    const { summary, locations } = await check("geo.test", "A", places);
    expect(summary.consistent).toBe(false);
    for (const region of REGIONS) {
      const found = locations.find(({ location }) => location.region === PLACES[region].region);
      expect(found?.data.records["A"]).toEqual([GEO_ANSWERS[region]]);
    }
    expect((await check("www.signed.test", "A", places)).summary.consistent).toBe(true);
  });
});
