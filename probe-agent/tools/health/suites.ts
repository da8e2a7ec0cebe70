import type { SuiteFacts } from "#probe-agent/analysis/site/health/ciphers.ts";
import type { TlsFacts } from "#probe-agent/analysis/site/health/snapshot.ts";
import { fewSuites, suitesByFault, VERSIONS } from "#probe-agent/analysis/tls/ssl/hellos.ts";
import { isOpen } from "#probe-agent/analysis/tls/ssl/configuration-findings.ts";
import { SUITES } from "#probe-agent/analysis/tls/ssl/suites.ts";
import { unknown, type Unknown } from "#probe-agent/analysis/text/unknown-fact.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { TlsObservation } from "#probe-agent/port/tls.ts";
import { isClear } from "#probe-agent/tools/ssl/elimination.ts";
import { createProber, type Prober, type ProbeTarget } from "#probe-agent/tools/ssl/prober.ts";
import { helloFor, seeVersion, type VersionSeen } from "#probe-agent/tools/ssl/versions.ts";

/** A server with every version costs 21 connections; more are for second tries. */
const CONNECTIONS = 40;
const QUESTION_MS = 2500;
/** With the first handshake before it (8 s at most) this stays within what health gives to one part. */
const TOTAL_MS = 6000;

type Fault = keyof Omit<SuiteFacts, "known" | "open">;
const FAULTS: readonly Fault[] = ["broken", "fixed", "cbc"];

/** Versions, and for each one whether a suite of each fault is taken: one question a fault, not one a suite. */
export async function gatherSuites(
  net: Net,
  target: ProbeTarget,
  { protocol }: TlsObservation,
): Promise<Pick<TlsFacts, "versions" | "suites">> {
  const until = net.monotonic() + Math.min(TOTAL_MS, net.remainingMs());
  const bounds = { connections: CONNECTIONS, until, questionMs: QUESTION_MS, usualMs: 0 };
  const prober = createProber(net, target, bounds);
  const seen = await Promise.all(VERSIONS.map((version) => seeVersion(prober, version)));
  const offers = ({ version, offered }: VersionSeen): boolean | null => (protocol === version.name ? true : offered);
  const told = new Map(seen.map((one) => [one.version.key, offers(one)]));
  const old = new Set([told.get("ssl3"), told.get("tls1_0"), told.get("tls1_1")]);
  return {
    versions: {
      ssl3: told.get("ssl3") ?? null,
      below1_2: old.has(true) ? true : old.has(null) ? null : false,
      tls1_2: told.get("tls1_2") ?? null,
      tls1_3: told.get("tls1_3") ?? null,
    },
    suites: await faultsOf(
      prober,
      seen.filter((one) => one.hello !== null),
    ),
  };
}

/** The gravest fault found counts whatever else stayed unanswered; without one, silence leaves the question open. */
async function faultsOf(prober: Prober, offered: readonly VersionSeen[]): Promise<SuiteFacts | Unknown> {
  const untold = unknown("Cipher suites could not be listed: the server did not answer.");
  if (offered.length === 0) return untold;
  const found: Record<Fault, string | null> = { broken: null, fixed: null, cbc: null };
  for (const fault of FAULTS) {
    const answers = await Promise.all(offered.map((seen) => oneOf(prober, seen, suitesByFault(seen.version)[fault])));
    found[fault] = answers.find((answer) => answer !== null && answer !== UNTOLD) ?? null;
    if (found[fault] !== null) break;
    if (answers.includes(UNTOLD)) return untold;
  }
  const open = SUITES.values().some((suite) => suite.name === found.broken && isOpen(suite));
  return { known: true, open, ...found };
}

/** What is said of a question that was not answered; no suite is called so. */
const UNTOLD = "untold";

/** Name of the suite taken, null for none. */
async function oneOf(prober: Prober, seen: VersionSeen, suites: readonly number[]): Promise<string | null> {
  const few = fewSuites(seen.version);
  const list = seen.short ? suites.filter((code) => few.includes(code)) : suites;
  if (list.length === 0) return null;
  const hello = helloFor(seen, prober.servername, list);
  const first = await prober.ask(hello);
  const answer = isClear(first) ? first : await prober.ask(hello);
  if (answer.kind === "silent") return UNTOLD;
  if (answer.kind === "refused" || !list.includes(answer.hello.suite)) return null;
  return SUITES.get(answer.hello.suite)?.name ?? null;
}
