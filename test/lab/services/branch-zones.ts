import type { Zone } from "#test/lab/services/zones.ts";

// Zones of the DNSSEC table: DNAMEs, and a parent of each kind of denial with unsigned and signed children below it.
// Every child is on the same two servers as its parent.

const NAME_SERVERS = ["ns1.test.", "ns2.test."];
const BOTH = ["dns-ns1", "dns-ns2"] as const;
const ADDRESS = "A 203.0.113.120";

/** The zone with DNAMEs. */
export const DNAME_ZONE = "dname.test";

/** The parents by the way they deny existence. */
export const PARENTS = { nsec: "nsec-parent.test", nsec3: "nsec3-parent.test", optout: "optout-parent.test" } as const;

/** A name whose DNAME leads to one of more than 255 octets. */
export const TOO_LONG = `${"d".repeat(60)}.${"d".repeat(60)}.long.${DNAME_ZONE}`;

/**
 * Children without a secure delegation. The first is signed correctly, in the second the addresses have no signatures,
 * in the third nothing has. The operator's trust anchors name all three.
 */
export const ISLANDS = ["island", "partly", "stripped"] as const;

/** Returns all of these zones. Pure. */
export function branchZones(): readonly Zone[] {
  return [{ name: DNAME_ZONE, text: zoneText(dnames()), servers: BOTH, signing: "nsec" }, ...families()];
}

/** Returns the names of the zones that need a separate anchor. Pure. */
export function islandZones(): readonly string[] {
  return Object.values(PARENTS).flatMap((parent) => ISLANDS.map((label) => `${label}.${parent}`));
}

function families(): readonly Zone[] {
  return (Object.entries(PARENTS) as [keyof typeof PARENTS, string][]).flatMap(([signing, parent]): Zone[] => [
    { name: parent, text: zoneText(parentRecords(parent)), servers: BOTH, signing },
    { name: `child.${parent}`, text: zoneText(childRecords(parent)), servers: BOTH },
    { name: `cut.deep.ent.${parent}`, text: zoneText(childRecords(parent)), servers: BOTH },
    { name: `island.${parent}`, text: zoneText(childRecords(parent)), servers: BOTH, signing: "nsec" },
    {
      name: `partly.${parent}`,
      text: zoneText(childRecords(parent)),
      servers: BOTH,
      signing: "nsec",
      strips: "addresses",
    },
    {
      name: `stripped.${parent}`,
      text: zoneText(childRecords(parent)),
      servers: BOTH,
      signing: "nsec",
      strips: "everything",
    },
  ]);
}

function dnames(): readonly string[] {
  const long = Array.from({ length: 3 }, () => "l".repeat(60)).join(".");
  return [
    "old DNAME new",
    `host.new ${ADDRESS}`,
    `alias.new CNAME host.new`,
    "first DNAME second",
    "second DNAME new",
    "away DNAME nsec3.test.",
    "plain DNAME unsigned.test.",
    `long DNAME ${long}.${DNAME_ZONE}.`,
    "*.wild DNAME new",
  ];
}

function parentRecords(parent: string): readonly string[] {
  const cuts = ["child", "cut.deep.ent", ...ISLANDS];
  return [
    `www ${ADDRESS}`,
    "into CNAME none.child",
    "*.w CNAME none.child",
    "round CNAME back.child",
    "to-island CNAME www.island",
    "to-stripped CNAME www.stripped",
    ...cuts.flatMap((label) => NAME_SERVERS.map((server) => `${label}.${parent}. NS ${server}`)),
  ];
}

function childRecords(parent: string): readonly string[] {
  return [`www ${ADDRESS}`, "alias CNAME none", `back CNAME www.${parent}.`];
}

function zoneText(lines: readonly string[]): string {
  const soa = `@ SOA ${NAME_SERVERS[0]} hostmaster.lab.test. 1 3600 600 86400 60`;
  return ["$TTL 60", soa, ...NAME_SERVERS.map((server) => `@ NS ${server}`), ...lines, ""].join("\n");
}
