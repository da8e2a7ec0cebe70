import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Outcome } from "#shared/contracts/outcome.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { dns } from "#shared/tools/dns/contract.ts";
import { delv, dig, resolverOf, type DelvVerdict } from "#test/lab/dig.ts";
import type { DnsOrder } from "#test/lab/dns-here.ts";
import { startLab, type Lab } from "#test/lab/lab.ts";
import { whyNoLab } from "#test/lab/namespaces.ts";
import { DNAME_ZONE, PARENTS, TOO_LONG } from "#test/lab/services/branch-zones.ts";
import { startResolver } from "#test/lab/services/resolvers.ts";
import { LAB_RANGES } from "#test/lab/topology.ts";
import { ROOT } from "#test/laws/source-files.ts";

const why = whyNoLab();
if (why !== null) console.warn(why);

type Result = ResultOf<typeof dns>;
/** root: only the lab's root. islands: additional anchors of an operator for zones below an unsigned delegation. */
type Anchors = "root" | "islands";

interface Row {
  readonly what: string;
  readonly name: string;
  readonly type: "A" | "CNAME" | "MX";
  readonly anchors: Anchors;
  /** Our result, through a resolver that validates and through one that does not. */
  readonly verdict: DelvVerdict;
  /** Different results of other validators, and the reason. */
  readonly differs?: { readonly delv?: DelvVerdict; readonly unbound?: DelvVerdict; readonly because: string };
}

type More = Partial<Pick<Row, "anchors" | "differs">>;

function row(what: string, name: string, type: Row["type"], verdict: DelvVerdict, more: More = {}): Row {
  return { what, name, type, verdict, anchors: "root", ...more };
}

type Difference = { readonly differs: NonNullable<Row["differs"]> };

const DS_OF_ALIAS: Difference = {
  differs: {
    unbound: "bogus",
    because:
      "unbound 1.17 asks for the DS of the alias' own name, is given the DNAME and stops (EDE 9: DS got DNAME answer); RFC 6672 section 5.3.1 has the DNAME validated in place of the alias",
  },
};
const DS_OF_ALIAS_AND_TARGET: Difference = {
  differs: {
    ...DS_OF_ALIAS.differs,
    delv: "insecure",
    because: `${DS_OF_ALIAS.differs.because}; delv asks for the alias of the target too, which is in an unsigned zone`,
  },
};
const ONE_ANCHOR: Difference = {
  differs: {
    delv: "insecure",
    because: "delv takes one anchor at a time: the alias and its target are below different ones",
  },
};
const TOO_LONG_ANSWER: Difference = {
  differs: {
    delv: "indeterminate",
    unbound: "insecure",
    because:
      "unbound validates no answer with YXDOMAIN (its log: cannot validate non-answer), delv validates the DNAME and then never ends; the signed DNAME proves by itself that the name is too long",
  },
};
const PARENTS_PROOF: Difference = {
  differs: {
    unbound: "bogus",
    because:
      "unbound 1.17 takes the wildcard's proof, which is signed by the parent, for the proof that the target does not exist (EDE 6: cnamenoanswer proof failed); the target is in an unsigned zone and needs none (RFC 4035 section 5.2)",
  },
};
const OPT_OUT: Difference = {
  differs: {
    delv: "secure",
    because:
      "delv says that the records are validated; RFC 5155 section 9.2 bars AD, as in the range may be unsigned names",
  },
};

const DNAME_ROWS: readonly Row[] = [
  row("an address below a DNAME", `host.old.${DNAME_ZONE}`, "A", "secure"),
  row("the alias that the server made from a DNAME", `host.old.${DNAME_ZONE}`, "CNAME", "secure", DS_OF_ALIAS),
  row("the same to a name that does not exist", `none.old.${DNAME_ZONE}`, "CNAME", "secure", DS_OF_ALIAS),
  row("no name behind a DNAME", `none.old.${DNAME_ZONE}`, "A", "secure"),
  row("no data behind a DNAME", `host.old.${DNAME_ZONE}`, "MX", "secure"),
  row("no data at the DNAME's own name", `old.${DNAME_ZONE}`, "A", "secure"),
  row("an alias behind a DNAME", `alias.old.${DNAME_ZONE}`, "A", "secure"),
  row("two DNAMEs in a row", `host.first.${DNAME_ZONE}`, "A", "secure"),
  row("the first alias of two DNAMEs", `host.first.${DNAME_ZONE}`, "CNAME", "secure", DS_OF_ALIAS),
  row("a DNAME into another signed zone", `www.away.${DNAME_ZONE}`, "A", "secure"),
  row("no name in the other zone, which has NSEC3", `none.away.${DNAME_ZONE}`, "A", "secure"),
  row("a DNAME into an unsigned zone", `www.plain.${DNAME_ZONE}`, "A", "insecure"),
  row("no name in the unsigned zone", `none.plain.${DNAME_ZONE}`, "A", "insecure"),
  row("the alias into the unsigned zone", `www.plain.${DNAME_ZONE}`, "CNAME", "secure", DS_OF_ALIAS_AND_TARGET),
  row("a DNAME that makes the name too long", TOO_LONG, "A", "secure", TOO_LONG_ANSWER),
  row("no data by a wildcard that has only a DNAME", `host.x.wild.${DNAME_ZONE}`, "A", "secure"),
];

/** Returns rows that depend on how the parent denies existence: names in an opt-out range may be unsigned children. */
function childRows([kind, parent]: readonly [string, string]): readonly Row[] {
  const by = (what: string): string => `${what}, parent with ${kind}`;
  return [
    row(by("an address in an unsigned child"), `www.child.${parent}`, "A", "insecure"),
    row(by("no name in an unsigned child"), `none.child.${parent}`, "A", "insecure"),
    row(by("no data in an unsigned child"), `www.child.${parent}`, "MX", "insecure"),
    row(by("no data at the child's own name"), `child.${parent}`, "MX", "insecure"),
    row(by("no name in a child below empty names"), `none.cut.deep.ent.${parent}`, "A", "insecure"),
    row(by("an alias into the child, no name there"), `into.${parent}`, "A", "insecure"),
    row(by("the alias itself"), `into.${parent}`, "CNAME", "secure"),
    row(by("a wildcard alias into the child, no name there"), `x.w.${parent}`, "A", "insecure", PARENTS_PROOF),
    row(by("an alias in the child, no name there"), `alias.child.${parent}`, "A", "insecure"),
    row(by("an alias into the child and back"), `round.${parent}`, "A", "insecure"),
    row(by("no data behind an alias into the child and back"), `round.${parent}`, "MX", "insecure"),
    kind === "optout"
      ? row(by("no name beside the child"), `none.${parent}`, "A", "insecure", OPT_OUT)
      : row(by("no name beside the child"), `none.${parent}`, "A", "secure"),
    row(by("a signed zone without DS and without anchor"), `www.island.${parent}`, "A", "insecure"),
    row(by("the same, no name"), `none.island.${parent}`, "A", "insecure"),
  ];
}

function islandRows([kind, parent]: readonly [string, string]): readonly Row[] {
  const of = (what: string, name: string, type: Row["type"], verdict: DelvVerdict, more: More = {}): Row =>
    row(`${what}, parent with ${kind}`, name, type, verdict, { anchors: "islands", ...more });
  return [
    of("an address in an island of trust", `www.island.${parent}`, "A", "secure"),
    of("no name in the island", `none.island.${parent}`, "A", "secure"),
    of("no data in the island", `www.island.${parent}`, "MX", "secure"),
    of("an alias into the island", `to-island.${parent}`, "A", "secure", ONE_ANCHOR),
    of("an alias out of the island", `back.island.${parent}`, "A", "secure", ONE_ANCHOR),
    of("signatures stripped from the island's addresses", `www.partly.${parent}`, "A", "bogus"),
    of("no data in that island, still signed", `www.partly.${parent}`, "MX", "secure"),
    of("an island without any signature", `www.stripped.${parent}`, "A", "bogus"),
    of("no name in that island", `none.stripped.${parent}`, "A", "bogus"),
    of("an alias into that island", `to-stripped.${parent}`, "A", "bogus"),
    of("an unsigned child beside the islands", `none.child.${parent}`, "A", "insecure"),
  ];
}

const PLACES = Object.entries(PARENTS);
const ROWS: readonly Row[] = [...DNAME_ROWS, ...PLACES.flatMap(childRows), ...PLACES.flatMap(islandRows)];

const PLAIN_PORT = 5300;
const VALIDATING_PORTS: Readonly<Record<Anchors, number>> = { root: 53, islands: 5301 };

describe.skipIf(why !== null)("DNSSEC compared with delv and unbound, with the same anchors", () => {
  let lab: Lab;
  const ours = new Map<string, Result>();

  beforeAll(async () => {
    lab = await startLab();
    const { network, names } = lab;
    await startResolver(network, "resolver-eu", names.trustAnchorFile, { port: PLAIN_PORT, validates: false });
    await startResolver(network, "resolver-eu", names.islandAnchorFile, { port: VALIDATING_PORTS.islands });
    for (const anchors of ["root", "islands"] as const) {
      const rows = ROWS.filter((each) => each.anchors === anchors);
      for (const port of [PLAIN_PORT, VALIDATING_PORTS[anchors]]) {
        const results = await lookUp(rows, anchors, port);
        for (const [index, result] of results.entries()) ours.set(keyOf(rows[index], port), result);
      }
    }
  });
  afterAll(() => lab?.close());

  function keyOf(each: Row | undefined, port: number): string {
    return `${each?.anchors} ${each?.name} ${each?.type} ${port}`;
  }

  /** Runs the rows through a resolver, all in one process of the probe in Europe, and returns our results. */
  async function lookUp(rows: readonly Row[], anchors: Anchors, port: number): Promise<readonly Result[]> {
    const { network, names } = lab;
    const lookups = rows.map(({ name, type }) => ({ params: { domain: name, types: type, dnssec: true }, input: {} }));
    const order: DnsOrder = {
      lookups,
      servers: [`${resolverOf(network, "eu")}:${port}`],
      allow: LAB_RANGES,
      trustAnchorFile: anchors === "root" ? names.trustAnchorFile : names.islandAnchorFile,
    };
    const said = await network.run("probe-eu", [
      process.execPath,
      `${ROOT}/test/lab/dns-here.ts`,
      JSON.stringify(order),
    ]);
    if (said.code !== 0) throw new Error(said.stderr);
    return (JSON.parse(said.stdout) as readonly Outcome<Result>[]).map((outcome) => {
      if (outcome.status !== "ok") throw new Error(JSON.stringify(outcome));
      return outcome.data;
    });
  }

  /**
   * AD means secure; a failure that disappears with checking disabled means bogus; an answer without AD means insecure.
   */
  async function unbound({ name, type, anchors }: Row): Promise<DelvVerdict> {
    const { network } = lab;
    const ask = (more: readonly string[]) => {
      const options = ["-p", `${VALIDATING_PORTS[anchors]}`, ...more];
      return dig(network, "probe-eu", resolverOf(network, "eu"), { name, type }, options);
    };
    const [checked, unchecked] = [await ask([]), await ask(["+cd"])];
    if (checked === null || unchecked === null || unchecked.status === "SERVFAIL") return "indeterminate";
    if (checked.status === "SERVFAIL") return "bogus";
    return checked.flags.ad ? "secure" : "insecure";
  }

  it.each(ROWS)("$what: $name $type is $verdict ($anchors)", async (each) => {
    const { network, names } = lab;
    const { name, type, anchors, verdict, differs } = each;
    // delv accepts one anchor: that of the island that has the name or its alias target.
    const island = anchors === "islands" ? /(?:island|partly|stripped)\.[a-z0-9-]+\.test$/.exec(name)?.[0] : undefined;
    const resolver = {
      ip: resolverOf(network, "eu"),
      port: PLAIN_PORT,
      anchorFile: names.delvAnchorFile,
      ...(island === undefined ? {} : { anchor: island }),
    };
    const [delved, unbounded] = await Promise.all([delv(network, "probe-eu", resolver, { name, type }), unbound(each)]);
    const plain = ours.get(keyOf(each, PLAIN_PORT))?.dnssec;
    const validating = ours.get(keyOf(each, VALIDATING_PORTS[anchors]))?.dnssec;
    expect(
      { plain: plain?.status, validating: validating?.status, delv: delved.verdict, unbound: unbounded },
      [...(plain?.reasons ?? []), delved.text, differs?.because ?? ""].join("\n"),
    ).toEqual({
      plain: verdict,
      validating: verdict,
      delv: differs?.delv ?? verdict,
      unbound: differs?.unbound ?? verdict,
    });
    expect(plain?.validated_by).toBe("local");
  });
});
