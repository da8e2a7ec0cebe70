import { fewSuites, helloOf, shortHelloOf, suiteLanes, type Version } from "#probe-agent/analysis/tls/ssl/hellos.ts";
import type { ClientHello, ServerHelloSeen } from "#probe-agent/port/tls.ts";
import { isConclusive } from "#probe-agent/tools/ssl/elimination.ts";
import type { Answer, Prober } from "#probe-agent/tools/ssl/prober.ts";

/** Whether one version is offered, and which hellos the server answers. */
export interface VersionSeen {
  readonly version: Version;
  /** Null if unknown. */
  readonly offered: boolean | null;
  /** ServerHello of this version; null if not offered. */
  readonly hello: ServerHelloSeen | null;
  /** Whether the server answers only short hellos. */
  readonly short: boolean;
  /** Whether the server refused without an alert. */
  readonly abrupt: boolean;
}

const PROTOCOL_VERSION_ALERT = 70;

/**
 * Offers a version with all common suites. If the answer is not conclusive, offers few of them in a short hello. If an
 * alert refuses the suites and not the version, offers the rare suites.
 */
export async function probeVersion(prober: Prober, version: Version): Promise<VersionSeen> {
  const { servername } = prober;
  const { common, rare } = suiteLanes(version);
  const full = await prober.ask(helloOf(version, servername, common.flat()));
  if (isConclusive(full)) return describeVersion(version, await orRareSuites(prober, version, full, rare), false);
  const short = await prober.ask(shortHelloOf(version, servername, fewSuites(version)));
  const answer = short.kind === "silent" && full.kind === "refused" ? full : short;
  return describeVersion(version, answer, short.kind === "hello");
}

async function orRareSuites(prober: Prober, version: Version, first: Answer, rare: readonly number[]): Promise<Answer> {
  const byVersion = first.kind === "refused" && first.alert === PROTOCOL_VERSION_ALERT;
  if (first.kind === "hello" || byVersion || rare.length === 0) return first;
  const second = await prober.ask(helloOf(version, prober.servername, rare));
  return second.kind === "hello" ? second : first;
}

function describeVersion(version: Version, answer: Answer, short: boolean): VersionSeen {
  const seen = { version, short, hello: null, abrupt: false };
  if (answer.kind === "silent") return { ...seen, offered: null };
  if (answer.kind === "refused") return { ...seen, offered: false, abrupt: answer.alert === null };
  const offered = answer.hello.version === version.wire;
  return { ...seen, offered, hello: offered ? answer.hello : null };
}

/** Creates a hello of the length that this server answers. */
export function helloFor(
  { version, short }: VersionSeen,
  servername: string | null,
  suites: readonly number[],
): ClientHello {
  return short ? shortHelloOf(version, servername, suites) : helloOf(version, servername, suites);
}
