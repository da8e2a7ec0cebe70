import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { addressOf } from "#test/lab/addresses.ts";
import { packetFilter } from "#test/lab/configure.ts";
import { inTurns, type Network } from "#test/lab/driver.ts";
import { startDaemon, type Daemon } from "#test/lab/services/daemon.ts";
import { branchZones, islandZones } from "#test/lab/services/branch-zones.ts";
import { makeKey, signZone, type ZoneKey } from "#test/lab/services/sign.ts";
import {
  GEO_REGIONS,
  geoZone,
  leafZones,
  rootZone,
  testZone,
  type ServerName,
  type Zone,
} from "#test/lab/services/zones.ts";

/** The running tree of name servers. */
export interface NameServers {
  /** DS of the lab's root in zone-file form, for VANTAGE_TRUST_ANCHORS. */
  readonly trustAnchorFile: string;
  /** The same, with an operator's anchors for the islands of trust. */
  readonly islandAnchorFile: string;
  /** All anchors in the form of delv's -a, which reads those of the zone given with +root. */
  readonly delvAnchorFile: string;
  /** Servers by node. */
  readonly daemons: ReadonlyMap<string, Daemon>;
}

const AT_ONCE = 4;
const DEAF = packetFilter("deaf", "input", ["meta l4proto { tcp, udp } th dport 53 drop"]);

/**
 * Signs the zones and starts the root, the TLD, two servers for everything below and a lame one; dns-dead drops
 * everything. `mailKey` is the SHA-256 of the key of the exchanger that has a TLSA record.
 */
export async function startNameServers(network: Network, mailKey: string): Promise<NameServers> {
  const folder = join(network.folder, "dns");
  mkdirSync(folder, { recursive: true });
  const zones = await signTree(network, folder, mailKey);
  const servers = ["dns-root", "dns-tld", "dns-ns1", "dns-ns2", "dns-lame"];
  const [started] = await Promise.all([
    Promise.all(servers.map(async (node) => [node, await startNamed(network, folder, node, zones.files)] as const)),
    network.nft("dns-dead", DEAF),
  ]);
  const trustAnchorFile = join(network.folder, "trust-anchor");
  const islandAnchorFile = join(network.folder, "island-anchors");
  const delvAnchorFile = join(folder, "delv-anchor");
  const all = [zones.root, ...zones.islands].map(({ ds }) => ds);
  writeFileSync(trustAnchorFile, `${zones.root.ds}\n`);
  writeFileSync(islandAnchorFile, `${all.join("\n")}\n`);
  writeFileSync(delvAnchorFile, `trust-anchors {\n${all.map(delvAnchor).join("\n")}\n};\n`);
  return { trustAnchorFile, islandAnchorFile, delvAnchorFile, daemons: new Map(started) };
}

/** Converts a DS record in zone-file form to an entry of BIND's trust-anchors. */
function delvAnchor(ds: string): string {
  const [zone, , , tag, algorithm, digestType, digest] = ds.split(/\s+/);
  return `"${zone}" static-ds ${tag} ${algorithm} ${digestType} "${digest}";`;
}

interface ZoneFile {
  readonly name: string;
  readonly file: string;
  readonly servers: readonly ServerName[];
}

async function signTree(
  { topology }: Network,
  folder: string,
  mailKey: string,
): Promise<{ readonly files: readonly ZoneFile[]; readonly root: ZoneKey; readonly islands: readonly ZoneKey[] }> {
  const leaves = [...leafZones(topology, mailKey), ...branchZones()];
  const keyFolder = join(folder, "keys");
  const signed = ["", "test", ...leaves.filter(({ signing }) => signing !== undefined).map(({ name }) => name)];
  const others = leaves.filter(({ ds }) => ds === "another key").map(({ name }) => name);
  const make = (names: readonly string[], where: string) =>
    inTurns(names, AT_ONCE, async (name) => [name, await makeKey(where, name)] as const);
  const [keys, strangers] = [new Map(await make(signed, keyFolder)), await make(others, join(folder, "other-keys"))];
  const ds = new Map([...keys, ...strangers].map(([name, key]) => [name, key.ds]));
  const all: readonly Zone[] = [
    ...leaves,
    { name: "test", text: testZone(topology, leaves, ds), servers: ["dns-tld"], signing: "nsec" },
    { name: "", text: rootZone(topology, leaves, ds), servers: ["dns-root"], signing: "nsec" },
  ];
  const files = await inTurns(all, AT_ONCE, async ({ name, text, servers, signing, strips }) => {
    const file = join(folder, `${name === "" ? "root" : name}-${servers.join("-")}.zone`);
    const key = keys.get(name);
    if (key !== undefined && signing !== undefined && strips !== "everything") {
      await signZone(name, text, key, signing, file);
      if (strips === "addresses") writeFileSync(file, withoutAddressSignatures(readFileSync(file, "utf8")));
    } else writeFileSync(file, text);
    return { name, file, servers };
  });
  for (const region of GEO_REGIONS) writeFileSync(join(folder, `geo-${region}.zone`), geoZone(region));
  const root = keys.get("");
  if (root === undefined) throw new Error("the root zone has no key");
  return { files, root, islands: islandZones().flatMap((name) => keys.get(name) ?? []) };
}

/** Returns the master file without the signatures of A records. */
function withoutAddressSignatures(text: string): string {
  return text
    .split("\n")
    .filter((line) => !/\sRRSIG\s+A\s/.test(line))
    .join("\n");
}

async function startNamed(network: Network, folder: string, node: string, zones: readonly ZoneFile[]): Promise<Daemon> {
  const file = join(folder, `${node}.conf`);
  const own = zones.filter(({ servers }) => servers.some((server) => server === node));
  writeFileSync(file, namedConfig(network, folder, node, own));
  return await startDaemon(network, { node, command: ["named", "-g", "-n", "1", "-c", file], ready: "running" });
}

function namedConfig(network: Network, folder: string, node: string, zones: readonly ZoneFile[]): string {
  const [ip4, ip6] = [addressOf(network.topology, node, 4), addressOf(network.topology, node, 6)];
  const options = `options {
  directory "${folder}"; pid-file none; session-keyfile "${folder}/${node}.session"; lock-file none;
  listen-on { ${ip4}; }; listen-on-v6 { ${ip6}; };
  recursion no; dnssec-validation no; notify no; allow-transfer { none; }; empty-zones-enable no;
};
controls { };`;
  const primaries = zones.map(
    ({ name, file }) => `zone "${name === "" ? "." : name}" { type primary; file "${file}"; };`,
  );
  if (node !== "dns-ns1" && node !== "dns-ns2") return [options, ...primaries].join("\n");
  // The first view has the zones and the others share them; only geo.test differs.
  const [first] = GEO_REGIONS;
  const views = [...GEO_REGIONS, "other"].map((view) => {
    const region = GEO_REGIONS.find((name) => name === view) ?? first;
    const clients = view === "other" ? "any" : clientsOf(network, region);
    const shared = view === first ? primaries : zones.map(({ name }) => `zone "${name}" { in-view "${first}"; };`);
    const geo = `zone "geo.test" { type primary; file "${folder}/geo-${region}.zone"; };`;
    return `view "${view}" { match-clients { ${clients}; }; ${geo}\n${shared.join("\n")}\n};`;
  });
  return [options, ...views].join("\n");
}

function clientsOf({ topology }: Network, region: string): string {
  return ([4, 6] as const)
    .map((family) => addressOf(topology, `probe-${region}`, family))
    .map((ip) => (ip.includes(":") ? ip.replace(/::.*$/, "::/64") : ip.replace(/\d+$/, "0/24")))
    .join("; ");
}
