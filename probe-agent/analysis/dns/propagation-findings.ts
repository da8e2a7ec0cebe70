import { listFirst } from "#shared/text/list.ts";
import { sortFindings, type Finding } from "#shared/findings.ts";
import type { PropagationResult } from "#shared/tools/propagation.ts";

/** Part of the result that the findings are based on. */
export type PropagationFacts = Pick<
  PropagationResult,
  "verdict" | "failures" | "authoritative" | "resolvers" | "expected_in_s"
>;

type Cause = PropagationResult["failures"][number]["cause"];

/** Maximum number of servers or resolvers named in one message. */
const NAMED = 3;
const RFC = "https://www.rfc-editor.org/rfc";
const HOW: Readonly<Record<Cause, string>> = {
  dnssec: "Make the DS record at the registrar match the zone's keys, or sign the zone again.",
  refused: "Nothing needs to change in the domain. These resolvers answer only their own clients.",
  servers_unreachable: "Make the domain's name servers answer from every network, over UDP and TCP port 53.",
  intermittent: "Check the load and the reachability of the domain's name servers.",
  unknown: "Ask the resolver again with dig and look for an Extended DNS Error.",
};

/** Returns findings about how far a record has propagated and whether the domain's own servers agree, worst first. */
export function propagationFindings(facts: PropagationFacts): Finding[] {
  return sortFindings([...failureFindings(facts), ...spreadFindings(facts), ...serverFindings(facts)]);
}

/**
 * Lists failing resolvers. A resolver that refuses foreign clients says nothing about the domain, so that is info only.
 */
function failureFindings({ failures }: PropagationFacts): Finding[] {
  return failures.map(({ cause, detail, resolvers }) => ({
    id: `resolvers-fail-${cause.replaceAll("_", "-")}`,
    severity: cause === "refused" ? "info" : cause === "intermittent" ? "warning" : "critical",
    message: `${resolvers.length === 1 ? "Resolver" : "Resolvers"} ${listFirst(resolvers, NAMED)} ${resolvers.length === 1 ? "fails" : "fail"}: ${detail}`,
    how: HOW[cause],
    reference: `${RFC}/rfc8914`,
    where: resolvers[0] ?? null,
  }));
}

function spreadFindings({ verdict, resolvers, expected_in_s: seconds }: PropagationFacts): Finding[] {
  const withVerdict = (word: string): string[] => resolvers.filter((row) => row.verdict === word).map((row) => row.id);
  if (verdict === "propagating") {
    const stale = withVerdict("stale");
    const until = seconds === null ? "" : ` The last older answer expires from the caches in ${seconds} s.`;
    const who = stale.length === 0 ? "One of the domain's own servers" : listFirst(stale, NAMED);
    const message = `${who} still ${stale.length > 1 ? "have" : "has"} an older answer.${until}`;
    const how = "Wait until the cached answers have expired. Before the next change, lower the TTL one day ahead.";
    return [
      { id: "older-answers", severity: "info", message, how, reference: `${RFC}/rfc1034`, where: stale[0] ?? null },
    ];
  }
  if (verdict !== "inconsistent") return [];
  const differing = withVerdict("differs");
  const message = `${differing.length === 0 ? "The resolvers" : listFirst(differing, NAMED)} returned answers that the domain's own servers do not return.`;
  const how = "Compare the zone on every name server, and check whether a second DNS provider still serves the domain.";
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
      message: `${listFirst(silent, NAMED)} did not answer.`,
      how: "Restore these name servers, or remove their NS records at the registrar and in the zone.",
      reference: `${RFC}/rfc2182#section-3`,
      where: silent[0] ?? null,
    });
  }
  if (lame.length > 0) {
    found.push({
      id: "lame-delegation",
      severity: lame.length === servers.length ? "critical" : "warning",
      message: `${listFirst([...new Set(lame)], NAMED)} answered without authority for the zone.`,
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
