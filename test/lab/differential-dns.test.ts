import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ResultOf } from "#shared/tools/define.ts";
import type { dns as dnsContract } from "#shared/tools/dns/contract.ts";
import type { propagation as propagationContract } from "#shared/tools/propagation/contract.ts";
import { addressOf } from "#test/lab/addresses.ts";
import { delv, dig, resolverOf, type DelvVerdict } from "#test/lab/dig.ts";
import { startLab, type Lab } from "#test/lab/lab.ts";
import { whyNoLab } from "#test/lab/namespaces.ts";
import { DANE_EXCHANGER } from "#test/lab/services/mail-records.ts";
import { startResolver } from "#test/lab/services/resolvers.ts";
import { GEO_SUBNET_ZONE, reverseName } from "#test/lab/services/zones.ts";
import { openToolbox, type Toolbox } from "#test/lab/toolbox.ts";
import { LAB } from "#test/lab/topology.ts";

const why = whyNoLab();
if (why !== null) console.warn(why);

type Dns = ResultOf<typeof dnsContract>;
type Propagation = ResultOf<typeof propagationContract>;

/** All types that the dns tool queries. */
const TYPES = ["A", "AAAA", "MX", "NS", "TXT", "CNAME", "SOA"] as const;

/** A name of every zone of the lab that has a server, and delv's result for its address. */
const NAMES: readonly (readonly [name: string, verdict: DelvVerdict])[] = [
  ["signed.test", "secure"],
  ["www.signed.test", "secure"],
  ["none.signed.test", "secure"],
  ["nsec3.test", "secure"],
  ["none.nsec3.test", "secure"],
  ["mail.test", "secure"],
  [DANE_EXCHANGER, "secure"],
  ["unsigned.test", "insecure"],
  ["alias.unsigned.test", "insecure"],
  ["many.unsigned.test", "insecure"],
  ["half-lame.test", "insecure"],
  ["www.stale.test", "insecure"],
  ["good.smtp.test", "insecure"],
  ["null.smtp.test", "insecure"],
  ["web.lab.test", "insecure"],
  ["h3.tls.test", "insecure"],
  ["geo.test", "insecure"],
  [GEO_SUBNET_ZONE, "insecure"],
  ["www.bogus.test", "bogus"],
  ["www.expired.test", "bogus"],
];

/** Types that the propagation tool queries in addition. */
const OTHERS = [
  ["TLSA", `_25._tcp.${DANE_EXCHANGER}`],
  ["HTTPS", "h3.tls.test"],
  ["DS", "signed.test"],
  ["DNSKEY", "signed.test"],
  ["PTR", reverseName(addressOf(LAB, "web"))],
  ["CAA", "mail.test"],
  ["SRV", "mail.test"],
  ["SVCB", "mail.test"],
] as const;

const PLAIN_PORT = 5300;

describe.skipIf(why !== null)("the dns and propagation tools compared with dig and delv, on every zone", () => {
  let lab: Lab;
  let toolbox: Toolbox;
  beforeAll(async () => {
    lab = await startLab();
    const anchor = lab.names.trustAnchorFile;
    await startResolver(lab.network, "resolver-eu", anchor, { port: PLAIN_PORT, validates: false });
    toolbox = await openToolbox(lab);
  });
  afterAll(() => lab?.close());

  it.each(NAMES)("dns: %s, every type, and the result %s", async (name, verdict) => {
    const { network, names } = lab;
    const ip = resolverOf(network, "eu");
    const anchorFile = names.delvAnchorFile;
    const digs = () => Promise.all(TYPES.map((type) => dig(network, "probe-eu", ip, { name, type })));
    // The resolver has it in its cache from now on. Sections of fresh answers may have more records.
    await digs();
    const [seen, dug, delved] = await Promise.all([
      toolbox.getResult<Dns>("dns", { domain: name, dnssec: true }),
      digs(),
      delv(network, "probe-eu", { ip, port: PLAIN_PORT, anchorFile }, { name, type: "A" }),
    ]);
    for (const [index, type] of TYPES.entries()) {
      const row = seen.results.find((result) => result.type === type);
      const { status, flags, counts, data, transport } = dug[index] ?? {};
      expect(
        {
          status: row?.status,
          flags: row?.flags,
          counts: row?.counts,
          data: row?.records
            .filter((record) => record.type === type)
            .map((record) => record.data)
            .toSorted(),
          transport: row?.transport.toUpperCase(),
        },
        type,
      ).toEqual({ status, flags, counts, data, transport });
    }
    expect(delved.verdict, delved.text).toBe(verdict);
    expect(seen.dnssec?.status).toBe(verdict);
  });

  it.concurrent.each(OTHERS)("propagation: %s of %s, at the resolver and at the zone's servers", async (type, name) => {
    const { network } = lab;
    const seen = await toolbox.getResult<Propagation>("propagation", { domain: name, type });
    // Our tool writes keys and digests without spaces.
    const dug = await dig(network, "probe-eu", resolverOf(network, "eu"), { name, type }, ["+nosplit"]);
    const own = seen.resolvers.find(({ kind }) => kind === "own");
    const data = dug?.data.map((text) => (type === "PTR" ? text.toLowerCase() : text));
    expect({ status: own?.status, answers: own?.answers }).toEqual({ status: dug?.status, answers: data });
    for (const server of seen.authoritative?.servers ?? []) {
      const asked = await dig(network, "probe-eu", server.ip ?? "", { name, type }, ["+norecurse"]);
      expect({ status: server.status, count: server.answers.length, aa: server.authoritative }).toEqual({
        status: asked?.status,
        count: asked?.data.length,
        aa: asked?.flags.aa,
      });
    }
    expect(seen.authoritative?.servers.length).toBeGreaterThan(0);
  });
});
