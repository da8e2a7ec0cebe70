import { addressOf } from "#test/lab/addresses.ts";
import type { Network } from "#test/lab/driver.ts";

/** What dig(1) shows of an answer. */
export interface Dug {
  /** Name of the RCODE. */
  readonly status: string;
  readonly flags: Readonly<Record<"aa" | "tc" | "rd" | "ra" | "ad" | "cd", boolean>>;
  /** Number of records by section; additional without EDNS. */
  readonly counts: { readonly answer: number; readonly authority: number; readonly additional: number };
  /** Data of the answer section's records of the requested type, sorted, in zone-file form. */
  readonly data: readonly string[];
  /** Codes of the Extended DNS Errors. */
  readonly ede: readonly number[];
  readonly nsid: string | null;
  /** Transport of the final answer: UDP, TCP, TLS or HTTPS. */
  readonly transport: string;
}

const FLAGS = ["aa", "tc", "rd", "ra", "ad", "cd"] as const;

/**
 * Queries as dig does, with DNSSEC records and NSID; null if no answer arrived. `options` can select another transport.
 */
export async function dig(
  network: Network,
  node: string,
  server: string,
  question: { readonly name: string; readonly type: string },
  options: readonly string[] = [],
): Promise<Dug | null> {
  const line = ["dig", "+dnssec", "+nsid", "+tries=1", "+time=2", "+nobadcookie", "+nocookie", ...options];
  const { stdout } = await network.run(node, [...line, `@${server}`, question.name, question.type]);
  return readDig(stdout, question.type);
}

function readDig(text: string, type: string): Dug | null {
  const [, status] = /status: (\w+),/.exec(text) ?? [];
  const [, flags = "", answer, authority, additional] =
    /flags: ([a-z ]*); QUERY: 1, ANSWER: (\d+), AUTHORITY: (\d+), ADDITIONAL: (\d+)/.exec(text) ?? [];
  if (status === undefined) return null;
  const set = new Set(flags.split(" "));
  const rows = (/;; ANSWER SECTION:\n([^]*?)\n\n/.exec(text)?.[1] ?? "").split("\n").map((row) => row.split(/\s+/));
  return {
    status,
    flags: Object.fromEntries(FLAGS.map((flag) => [flag, set.has(flag)])) as Dug["flags"],
    // Its EDNS record counts with the additional ones.
    counts: { answer: Number(answer), authority: Number(authority), additional: Number(additional) - 1 },
    data: rows
      .filter(([, , , kind]) => kind === type)
      .map((row) => row.slice(4).join(" "))
      .toSorted(),
    ede: Array.from(text.matchAll(/; EDE: (\d+)/g), ([, code]) => Number(code)),
    nsid: /; NSID: .*\("(.*)"\)/.exec(text)?.[1] ?? null,
    transport: /;; SERVER: .*\((\w+)\)/.exec(text)?.[1] ?? "",
  };
}

/** The verdict of BIND's delv(1), by its own validation from the lab's trust anchor. */
export type DelvVerdict = "secure" | "insecure" | "bogus" | "indeterminate";

/** Validates as delv does, with data that a resolver passes on unvalidated. */
export async function delv(
  network: Network,
  node: string,
  resolver: {
    readonly ip: string;
    readonly port: number;
    readonly anchorFile: string;
    /** Zone of the trust anchor. Default: the root. delv accepts only one. */
    readonly anchor?: string;
  },
  { name, type }: { readonly name: string; readonly type: string },
): Promise<{ readonly verdict: DelvVerdict; readonly text: string }> {
  const trust = ["+cd", `+root=${resolver.anchor ?? "."}`, "-a", resolver.anchorFile];
  // It does not end by itself on YXDOMAIN.
  const line = ["timeout", "5", "delv", ...trust, "-p", `${resolver.port}`, `@${resolver.ip}`, name, type];
  const { stdout, stderr } = await network.run(node, line);
  const text = stdout + stderr;
  return { text, verdict: verdictOf(text) };
}

/** Returns delv's result for the whole answer: that of the weakest link of an alias chain. */
function verdictOf(text: string): DelvVerdict {
  if (/resolution failed: (broken trust chain|insecurity proof failed|no valid|RRSIG has expired)/.test(text))
    return "bogus";
  if (/^; (negative response, )?unsigned answer/m.test(text)) return "insecure";
  return /^; (negative response, )?fully validated/m.test(text) ? "secure" : "indeterminate";
}

/** Returns the address of a region's resolver. */
export function resolverOf(network: Network, region: string, family: 4 | 6 = 4): string {
  return addressOf(network.topology, `resolver-${region}`, family);
}
