import { sortFindings, type Finding } from "#shared/findings.ts";
import type { PropagationResult } from "#shared/tools/propagation.ts";

/** The part of the result that the findings are drawn from. */
export type PropagationFacts = Pick<
  PropagationResult,
  "verdict" | "failures" | "authoritative" | "resolvers" | "expected_in_s"
>;

type Cause = PropagationResult["failures"][number]["cause"];

/** Servers or resolvers named in one message. */
const NAMED = 3;
const RFC = "https://www.rfc-editor.org/rfc";
const HOW: Readonly<Record<Cause, string>> = {
  dnssec: "Make the DS record at the registrar fit the zone's keys, or sign the zone again.",
  refused: "Nothing in the domain: these resolvers serve other clients only.",
  servers_unreachable: "Let the domain's name servers answer from every network, over UDP and TCP port 53.",
  intermittent: "Check the load and the reachability of the domain's name servers.",
  unknown: "Ask the resolver again with dig and look for an Extended DNS Error.",
};

/** Judges how far a record has spread and how its own servers agree; worst first. */
export function propagationFindings(facts: PropagationFacts): Finding[] {
  return sortFindings([...failureFindings(facts), ...spreadFindings(facts), ...serverFindings(facts)]);
}

/** A resolver that refuses strangers tells nothing of the domain. */
function failureFindings({ failures }: PropagationFacts): Finding[] {
  return failures.map(({ cause, detail, resolvers }) => ({
    id: `resolvers-fail-${cause.replaceAll("_", "-")}`,
    severity: cause === "refused" ? "info" : cause === "intermittent" ? "warning" : "critical",
    message: `${some(resolvers)} ${resolvers.length === 1 ? "fails" : "fail"}: ${detail}`,
    how: HOW[cause],
    reference: `${RFC}/rfc8914`,
    where: resolvers[0] ?? null,
  }));
}

function spreadFindings({ verdict, resolvers, expected_in_s: seconds }: PropagationFacts): Finding[] {
  const withVerdict = (word: string): string[] => resolvers.filter((row) => row.verdict === word).map((row) => row.id);
  if (verdict === "propagating") {
    const stale = withVerdict("stale");
    const until = seconds === null ? "" : ` The last older answer leaves the caches in ${seconds} s.`;
    const who = stale.length === 0 ? "One of the domain's own servers" : some(stale);
    const message = `${who} still ${stale.length > 1 ? "have" : "has"} an older answer.${until}`;
    const how = "Wait until the caches have expired; lower the TTL a day before the next change.";
    return [
      { id: "older-answers", severity: "info", message, how, reference: `${RFC}/rfc1034`, where: stale[0] ?? null },
    ];
  }
  if (verdict !== "inconsistent") return [];
  const differing = withVerdict("differs");
  const message = `${differing.length === 0 ? "The resolvers" : some(differing)} gave answers that the domain's servers do not give.`;
  const how = "Compare the zone on every name server, and look for a second provider that still serves the domain.";
  return [
    {
      id: "answers-differ",
      severity: "warning",
      message,
      how,
      reference: `${RFC}/rfc1034`,
      where: differing[0] ?? null,
    },
  ];
}

function serverFindings({ authoritative }: PropagationFacts): Finding[] {
  if (authoritative === null) return [];
  const { servers, serials } = authoritative;
  const silent = [...new Set(servers.filter(({ error }) => error !== null).map(({ ns }) => ns))];
  const lame = servers.filter(({ error, authoritative: speaks }) => error === null && !speaks).map(({ ns }) => ns);
  const different = new Set(serials.map(({ serial }) => serial));
  const found: Finding[] = [];
  if (silent.length > 0) {
    const all = servers.every(({ error }) => error !== null);
    found.push({
      id: "name-server-silent",
      severity: all ? "critical" : "warning",
      message: `${some(silent)} gave no answer.`,
      how: "Bring these name servers back, or remove their NS records at the registrar and in the zone.",
      reference: `${RFC}/rfc2182#section-3`,
      where: silent[0] ?? null,
    });
  }
  if (lame.length > 0) {
    found.push({
      id: "lame-delegation",
      severity: lame.length === servers.length ? "critical" : "warning",
      message: `${some([...new Set(lame)])} answered without authority for the zone.`,
      how: "Load the zone on these name servers, or remove their NS records at the registrar and in the zone.",
      reference: `${RFC}/rfc9499#section-7`,
      where: lame[0] ?? null,
    });
  }
  if (different.size > 1) {
    const shown = serials.slice(0, NAMED).map(({ ns, serial }) => `${ns}: ${serial}`);
    found.push({
      id: "serials-differ",
      severity: "warning",
      message: `The zone's serial differs between its servers (${shown.join(", ")}).`,
      how: "Check the zone transfers from the primary to the secondaries (NOTIFY, AXFR, TSIG).",
      reference: `${RFC}/rfc1996`,
      where: serials[0]?.ns ?? null,
    });
  }
  return found;
}

function some(names: readonly string[]): string {
  const rest = names.length - NAMED;
  return names.slice(0, NAMED).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}
