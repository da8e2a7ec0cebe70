import { adviseOn, finding, type AdviceTable, type FindingDraft } from "#probe-agent/analysis/text/findings.ts";
import { listFirst } from "#shared/text/list.ts";
import { sortFindings, type Finding } from "#shared/contracts/findings.ts";
import type { PropagationResult } from "#shared/tools/propagation/contract.ts";

/** Part of the result that the findings are based on. */
export type PropagationFacts = Pick<
  PropagationResult,
  "verdict" | "failures" | "authoritative" | "resolvers" | "expected_in_s"
>;

type Cause = PropagationResult["failures"][number]["cause"];

/** Maximum number of servers or resolvers named in one message. */
const NAMED = 3;
const RFC = "https://www.rfc-editor.org/rfc";
const FAILURE = `${RFC}/rfc8914`;

/**
 * Severity and advice for each kind of finding. A resolver that refuses foreign clients says nothing about the domain,
 * so that is info only.
 */
const PROPAGATION_ADVICE = {
  "resolvers-fail-dnssec": {
    severity: "critical",
    how: "Make the DS record at the registrar match the zone's keys, or sign the zone again.",
    reference: FAILURE,
  },
  "resolvers-fail-refused": {
    severity: "info",
    how: "Nothing needs to change in the domain. These resolvers answer only their own clients.",
    reference: FAILURE,
  },
  "resolvers-fail-servers-unreachable": {
    severity: "critical",
    how: "Make the domain's name servers answer from every network, over UDP and TCP port 53.",
    reference: FAILURE,
  },
  "resolvers-fail-intermittent": {
    severity: "warning",
    how: "Check the load and the reachability of the domain's name servers.",
    reference: FAILURE,
  },
  "resolvers-fail-unknown": {
    severity: "critical",
    how: "Ask the resolver again with dig and look for an Extended DNS Error.",
    reference: FAILURE,
  },
  "older-answers": {
    severity: "info",
    how: "Wait until the cached answers have expired. Before the next change, lower the TTL one day ahead.",
    reference: `${RFC}/rfc1034`,
  },
  "answers-differ": {
    severity: "warning",
    how: "Compare the zone on every name server, and check whether a second DNS provider still serves the domain.",
    reference: `${RFC}/rfc1034`,
  },
  "name-server-silent": {
    severity: "warning",
    how: "Restore these name servers, or remove their NS records at the registrar and in the zone.",
    reference: `${RFC}/rfc2182#section-3`,
  },
  "lame-delegation": {
    severity: "warning",
    how: "Load the zone on these name servers, or remove their NS records at the registrar and in the zone.",
    reference: `${RFC}/rfc9499#section-7`,
  },
  "serials-differ": {
    severity: "warning",
    how: "Check the zone transfers from the primary to the secondaries (NOTIFY, AXFR, TSIG).",
    reference: `${RFC}/rfc1996`,
  },
} as const satisfies AdviceTable<string>;

type Draft = FindingDraft<keyof typeof PROPAGATION_ADVICE>;

const FAILURES: Readonly<Record<Cause, Draft["id"]>> = {
  dnssec: "resolvers-fail-dnssec",
  refused: "resolvers-fail-refused",
  servers_unreachable: "resolvers-fail-servers-unreachable",
  intermittent: "resolvers-fail-intermittent",
  unknown: "resolvers-fail-unknown",
};

/** Returns findings about how far a record has propagated and whether the domain's own servers agree, worst first. */
export function propagationFindings(facts: PropagationFacts): Finding[] {
  const drafts = [...failureFindings(facts), ...spreadFindings(facts), ...serverFindings(facts)];
  return sortFindings(adviseOn(PROPAGATION_ADVICE, drafts, null));
}

function failureFindings({ failures }: PropagationFacts): Draft[] {
  return failures.map(({ cause, detail, resolvers }) => {
    const isOne = resolvers.length === 1;
    const who = `${isOne ? "Resolver" : "Resolvers"} ${listFirst(resolvers, NAMED)} ${isOne ? "fails" : "fail"}`;
    return finding(FAILURES[cause], resolvers[0] ?? null, `${who}: ${detail}`);
  });
}

function spreadFindings({ verdict, resolvers, expected_in_s: seconds }: PropagationFacts): Draft[] {
  const withVerdict = (word: string): string[] => resolvers.filter((row) => row.verdict === word).map((row) => row.id);
  if (verdict === "propagating") {
    const stale = withVerdict("stale");
    const until = seconds === null ? "" : ` The last older answer expires from the caches in ${seconds} s.`;
    const who = stale.length === 0 ? "One of the domain's own servers" : listFirst(stale, NAMED);
    const message = `${who} still ${stale.length > 1 ? "have" : "has"} an older answer.${until}`;
    return [finding("older-answers", stale[0] ?? null, message)];
  }
  if (verdict !== "inconsistent") return [];
  const differing = withVerdict("differs");
  const message = `${differing.length === 0 ? "The resolvers" : listFirst(differing, NAMED)} returned answers that the domain's own servers do not return.`;
  return [finding("answers-differ", differing[0] ?? null, message)];
}

function serverFindings({ authoritative }: PropagationFacts): Draft[] {
  if (authoritative === null) return [];
  const { servers, serials } = authoritative;
  const silent = [...new Set(servers.filter(({ error }) => error !== null).map(({ ns }) => ns))];
  const lame = servers.filter(({ error, authoritative: speaks }) => error === null && !speaks).map(({ ns }) => ns);
  const different = new Set(serials.map(({ serial }) => serial));
  const found: Draft[] = [];
  if (silent.length > 0) {
    const all = servers.every(({ error }) => error !== null);
    found.push(
      finding(
        "name-server-silent",
        silent[0] ?? null,
        `${listFirst(silent, NAMED)} did not answer.`,
        all ? "critical" : "warning",
      ),
    );
  }
  if (lame.length > 0) {
    const message = `${listFirst([...new Set(lame)], NAMED)} answered without authority for the zone.`;
    const severity = lame.length === servers.length ? "critical" : "warning";
    found.push(finding("lame-delegation", lame[0] ?? null, message, severity));
  }
  if (different.size > 1) {
    const shown = serials.slice(0, NAMED).map(({ ns, serial }) => `${ns}: ${serial}`);
    const message = `The zone's serial differs between its servers (${shown.join(", ")}).`;
    found.push(finding("serials-differ", serials[0]?.ns ?? null, message));
  }
  return found;
}
