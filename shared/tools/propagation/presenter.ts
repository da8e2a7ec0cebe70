import { existing, fact, table } from "#shared/presentation/build.ts";
import type { Table, Verdict } from "#shared/presentation/presentation.ts";
import { definePresenter } from "#shared/tools/define-presenter.ts";
import { counted, percent } from "#shared/presentation/values.ts";
import { verdictOf, worst } from "#shared/presentation/verdict.ts";
import { writeDuration } from "#shared/text/duration.ts";
import { listAll, listFirst } from "#shared/text/list.ts";
import { propagation as contract, type PropagationResult } from "#shared/tools/propagation/contract.ts";

type Resolver = PropagationResult["resolvers"][number];

/** Values of an answer, and resolvers, that are named; the JSON has all. */
const MOST_NAMED = 3;

/** What the answer of a resolver is, in the order of the table: those that differ first. */
const KINDS = {
  broken: ["fails", "bad"],
  error: ["no answer", "warning"],
  differs: ["another answer", "warning"],
  stale: ["older answer", "warning"],
  unknown: ["not compared", null],
  subset: ["current, in part", null],
  geo: ["current, by place", null],
  match: ["current", null],
} as const satisfies Readonly<Record<Resolver["verdict"], readonly [string, Verdict | null]>>;

/** Why a resolver fails, as the end of a sentence. */
const CAUSES = {
  dnssec: "DNSSEC validation fails",
  refused: "refuses the query",
  servers_unreachable: "cannot reach the domain's servers",
  intermittent: "fails at times",
  unknown: "fails",
} as const;

/** propagation: how many resolvers have the current answer, then who differs, and what the domain's servers say. */
export const propagation = definePresenter(contract, (data) => {
  const { resolvers, authoritative: own, agreement_pct: agreement, distinct_answers: distinct } = data;
  return {
    verdict: worst([verdictOf(data.findings), verdictOfSpread(data)]),
    headline: headlineOf(data),
    facts: existing(
      fact("Current answer", own === null ? null : answerOf(own)),
      fact("Agreement", agreement === null ? null : percent(agreement), { tone: agreement === 100 ? "good" : null }),
      fact("Older answers", countOrNull(having(resolvers, "stale")), { tone: "warning" }),
      fact("Failing", countOrNull(having(resolvers, "broken")), { tone: "warning" }),
      fact("No answer", countOrNull(having(resolvers, "error"))),
      fact("Done in", data.expected_in_s === null ? null : writeDuration(data.expected_in_s)),
      fact("Domain's servers", own === null ? "not reached" : own.consistent ? "all say the same" : "do not agree", {
        tone: own?.consistent === true ? null : "warning",
      }),
      fact("Caches keep it for", own?.ttl == null ? null : writeDuration(own.ttl)),
      fact("Alias of", own === null || own.name === data.ascii ? null : own.name),
    ),
    tables: existing(
      resolverTable(resolvers),
      table(
        "Answers",
        ["#Resolvers", "Answer"],
        distinct.length < 2 ? [] : distinct.map((one) => [one.count, answerOf(one)]),
      ),
      serverTable(own?.servers ?? []),
    ),
  };
});

/** Resolvers that refuse are not counted: they say nothing about the domain, and the findings name them. */
function verdictOfSpread({ resolvers, verdict }: PropagationResult): Verdict {
  if (verdict === "broken") return "bad";
  if (verdict === "unknown") return "warning";
  const isUneven = resolvers.some((row) => row.verdict === "stale" || row.verdict === "differs");
  return isUneven ? "warning" : "good";
}

function headlineOf(data: PropagationResult): string {
  const { domain, type, resolvers, authoritative: own, verdict, expected_in_s: seconds } = data;
  const name = `${domain} ${type}`;
  const answered = resolvers.filter((row) => row.verdict !== "error");
  const all = counted(answered.length, "resolver");
  const current = answered.filter((row) => ["match", "subset", "geo"].includes(row.verdict));
  if (verdict === "unknown" || answered.length === 0) return `${name}: no resolver answers`;
  if (own === null && verdict !== "broken")
    return `${name}: the domain's own servers cannot be asked, so nothing can be compared`;
  if (verdict === "geo" && current.length === answered.length)
    return `${name}: all ${all} are up to date; the answer differs by place on purpose`;
  if (own !== null && current.length === answered.length)
    return `${name}: all ${all} ${own.answers.length > 0 ? "answer" : "say that"} ${answerOf(own)}`;
  const [cause] = data.failures;
  const others = existing(
    describe(having(resolvers, "stale"), "has an older one", "have an older one"),
    describe(having(resolvers, "differs"), "has another one", "have another one"),
    describe(having(resolvers, "broken", false), "fails", "fail"),
    describe(having(resolvers, "broken", true), "refuses the query", "refuse the query"),
    describe(having(resolvers, "unknown"), "cannot be compared", "cannot be compared"),
  );
  if (verdict === "broken") return `${name} fails at all ${all}: ${CAUSES[cause?.cause ?? "unknown"]}`;
  const until = seconds === null ? "" : `; the last older one expires in ${writeDuration(seconds)}`;
  return `${name}: ${current.length} of ${all} have the current answer, ${listAll(others)}${until}`;
}

function describe(count: number, one: string, many: string): string | null {
  return count === 0 ? null : `${count} ${count === 1 ? one : many}`;
}

/** Counts resolvers with a verdict; `refuses` counts only those that refuse, or only the others. */
function having(resolvers: readonly Resolver[], verdict: Resolver["verdict"], refuses?: boolean): number {
  const all = resolvers.filter((row) => row.verdict === verdict);
  return all.filter(({ cause }) => refuses === undefined || refuses === (cause === "refused")).length;
}

function countOrNull(count: number): string | null {
  return count === 0 ? null : counted(count, "resolver");
}

/** Writes an answer: its values, or what its status means. */
function answerOf({ status, answers }: { readonly status: string; readonly answers: readonly string[] }): string {
  if (answers.length > 0) return listFirst(answers, MOST_NAMED);
  if (status === "NXDOMAIN") return "the name does not exist";
  return status === "NOERROR" ? "there is no such record" : status;
}

function resolverTable(resolvers: readonly Resolver[]): Table | null {
  const order = Object.keys(KINDS);
  const sorted = resolvers.toSorted((a, b) => order.indexOf(a.verdict) - order.indexOf(b.verdict));
  return table(
    "Resolvers",
    ["Resolver", "State", "Answer", "#TTL (s)"],
    sorted.map(({ name, location, verdict, cause, ttl, ...row }) => {
      const [state, tone] = KINDS[verdict];
      return {
        cells: [`${name}, ${location}`, cause === null ? state : CAUSES[cause], answerOf(row), ttl],
        tone: cause === "refused" ? "warning" : tone,
      };
    }),
  );
}

function serverTable(servers: NonNullable<PropagationResult["authoritative"]>["servers"]): Table | null {
  return table(
    "Domain's own servers",
    ["Server", "Address", "Answer", "#Serial", "#TTL (s)", "Note"],
    servers.map((row) => {
      const note = row.error ?? (row.authoritative ? null : "does not serve the zone");
      return {
        cells: [row.ns, row.ip, answerOf(row), row.serial, row.ttl, note],
        tone: note === null ? null : "warning",
      };
    }),
  );
}
