import { fewSuites, helloOf, shortHelloOf, suiteLanes, type Version } from "#probe-agent/analysis/tls/ssl/hellos.ts";
import type { ClientHello, ServerHelloSeen } from "#probe-agent/port/tls.ts";
import { isClear } from "#probe-agent/tools/ssl/elimination.ts";
import type { Answer, Prober } from "#probe-agent/tools/ssl/prober.ts";

/** Whether one version is offered, and how to talk to the server in it. */
export interface VersionSeen {
  readonly version: Version;
  /** Null where it could not be told. */
  readonly offered: boolean | null;
  /** The ServerHello that showed it; null where not offered. */
  readonly hello: ServerHelloSeen | null;
  /** Only short hellos are answered. */
  readonly short: boolean;
  /** Refused without an alert. */
  readonly abrupt: boolean;
}

const PROTOCOL_VERSION_ALERT = 70;

/**
 * Offers a version with all common suites; where that is not answered in words, with few of them in a short hello; where
 * the suites alone were refused, with the rare ones.
 */
export async function seeVersion(prober: Prober, version: Version): Promise<VersionSeen> {
  const { servername } = prober;
  const { common, rare } = suiteLanes(version);
  const full = await prober.ask(helloOf(version, servername, common.flat()));
  if (isClear(full)) return judge(version, await orRare(prober, version, full, rare), false);
  const short = await prober.ask(shortHelloOf(version, servername, fewSuites(version)));
  const answer = short.kind === "silent" && full.kind === "refused" ? full : short;
  return judge(version, answer, short.kind === "hello");
}

async function orRare(prober: Prober, version: Version, first: Answer, rare: readonly number[]): Promise<Answer> {
  const byVersion = first.kind === "refused" && first.alert === PROTOCOL_VERSION_ALERT;
  if (first.kind === "hello" || byVersion || rare.length === 0) return first;
  const second = await prober.ask(helloOf(version, prober.servername, rare));
  return second.kind === "hello" ? second : first;
}

function judge(version: Version, answer: Answer, short: boolean): VersionSeen {
  const seen = { version, short, hello: null, abrupt: false };
  if (answer.kind === "silent") return { ...seen, offered: null };
  if (answer.kind === "refused") return { ...seen, offered: false, abrupt: answer.alert === null };
  const offered = answer.hello.version === version.wire;
  return { ...seen, offered, hello: offered ? answer.hello : null };
}

/** A hello of the length this server takes. */
export function helloFor(
  { version, short }: VersionSeen,
  servername: string | null,
  suites: readonly number[],
): ClientHello {
  return short ? shortHelloOf(version, servername, suites) : helloOf(version, servername, suites);
}
