import type { Family } from "#test/lab/addresses.ts";

/** Addresses that answered at each hop, without repetition; none for silence. */
export type Seen = readonly (readonly string[])[];

/** Another program that traces a path. */
export interface TraceTool {
  readonly name: string;
  /** Returns the command for one target, with numeric output, that ends within seconds. */
  readonly command: (ip: string, family: Family) => readonly string[];
  readonly read: (output: string) => Seen;
}

const TRACEROUTE = ["-n", "-q", "1", "-N", "32", "-w", "1", "-m", "15"];
const MTR = ["-n", "--report", "--report-wide", "-c", "1", "-G", "1", "-m", "15"];

/** Debian's traceroute in its three modes, and mtr. */
export const TRACE_TOOLS: readonly TraceTool[] = [
  ...[["-I"], [], ["-T"]].map((way) => ({
    name: ["traceroute", ...way].join(" "),
    command: (ip: string, family: Family) => ["traceroute", `-${family}`, ...TRACEROUTE, ...way, ip],
    read: readTraceroute,
  })),
  {
    name: "mtr",
    command: (ip, family) => ["mtr", `-${family}`, ...MTR, ip],
    read: readMtr,
  },
];

/** Parses the hops of traceroute(8)'s output with -n. */
export function readTraceroute(output: string): Seen {
  return output
    .split("\n")
    .filter((line) => /^ *\d+ /.test(line))
    .map((line) => addressesIn(line.trim().split(/\s+/).slice(1)));
}

/** Parses the hops of mtr's report with -n. An additional address of a hop has a separate line. */
export function readMtr(output: string): Seen {
  const hops: string[][] = [];
  for (const line of output.split("\n")) {
    const [, hop, address = ""] = /^ *(?:(\d+)\.)?\s*[|`]+(?: *[|`])?-- (\S+)/.exec(line) ?? [];
    if (hop !== undefined) hops.push(addressesIn([address]));
    else if (address !== "") hops.at(-1)?.push(...addressesIn([address]));
  }
  return hops;
}

/** Agreement of another program's hops with ours, hop by hop. */
export interface Comparison {
  /** Number of hops with the same address, or silence in both. */
  readonly same: number;
  /** Number of hops with the other of two equal paths, according to the table. */
  readonly twin: number;
  /** Number of hops that are silent there and have an address here. */
  readonly star: number;
  /** Hops that none of these explains. */
  readonly other: readonly string[];
}

/** Compares as many hops as the table has. Pure. */
export function compareHops(ours: Seen, theirs: Seen, expected: Seen): Comparison {
  const kinds = expected.map((allowed, index) => {
    const [own = [], their = []] = [ours[index], theirs[index]];
    if (own.join() === their.join()) return "same";
    if (their.length === 0) return "star";
    const isKnown = their.every((ip) => allowed.includes(ip));
    return isKnown && allowed.length > 1 ? "twin" : `hop ${index + 1} is ${own.join()} to us, ${their.join()} to it`;
  });
  const count = (kind: string): number => kinds.filter((is) => is === kind).length;
  return {
    same: count("same"),
    twin: count("twin"),
    star: count("star"),
    other: kinds.filter((kind) => !["same", "twin", "star"].includes(kind)),
  };
}

function addressesIn(words: readonly string[]): string[] {
  return [...new Set(words.filter((word) => /^[\da-f]+[.:][\da-f.:]+$/.test(word) && !/^\d+\.\d+$/.test(word)))];
}
