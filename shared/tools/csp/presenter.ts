import { existing, fact, table } from "#shared/presentation/build.ts";
import { definePresenter } from "#shared/tools/define-presenter.ts";
import { errorPageNote, pageFacts } from "#shared/presentation/page.ts";
import { counted, shortUrl } from "#shared/presentation/values.ts";
import { verdictOfGrade, verdictOfPractice } from "#shared/presentation/verdict.ts";
import { listFirst } from "#shared/text/list.ts";
import { csp as contract } from "#shared/tools/csp/contract.ts";
import type { ResultOf } from "#shared/tools/define.ts";

type Csp = ResultOf<typeof contract>;
type Effective = Csp["effective"];

const MOST_SOURCES = 10;
const MOST_NAMED = 3;

/** Lists of sources by what they allow, the most dangerous first. */
const DIRECTIVES: readonly (readonly [keyof Effective, string])[] = [
  ["script_src", "Scripts"],
  ["script_src_elem", "Script elements"],
  ["script_src_attr", "Event handlers"],
  ["object_src", "Plugins"],
  ["base_uri", "Base address"],
  ["frame_src", "Frames in the page"],
  ["frame_ancestors", "Pages that frame it"],
  ["form_action", "Targets of forms"],
  ["connect_src", "Connections"],
  ["worker_src", "Workers"],
  ["style_src", "Styles"],
  ["img_src", "Images"],
  ["media_src", "Audio and video"],
  ["font_src", "Fonts"],
  ["manifest_src", "App manifests"],
];

/** csp: the grade and the worst weakness, then what may load from where, and the points of the score. */
export const csp = definePresenter(contract, (data) => {
  const { grade, score, policies, effective, findings, reporting, enforced } = data;
  const has = policies.length > 0;
  const reports = [...reporting.report_uri, ...reporting.report_to];
  return {
    verdict: verdictOfPractice(grade, findings),
    headline: headlineOf(data),
    facts: existing(
      fact("Grade", grade, { tone: verdictOfGrade(grade) }),
      fact("Score", `${score} of 100`),
      fact("Enforced", enforced ? "yes" : has ? "no: it only reports" : "no policy", {
        tone: enforced ? "good" : "warning",
      }),
      fact("Scripts", has ? sourcesOf(effective.script_src) : null),
      fact("Strict", has ? (data.strict_csp ? "yes: only nonces or hashes allow scripts" : "no") : null),
      fact("Trusted Types", has ? (data.trusted_types ? "required" : "not required") : null),
      fact("Known bypasses", listFirst(data.bypass_hosts, MOST_NAMED), { tone: "warning" }),
      fact("Sandbox", effective.sandbox === null ? null : effective.sandbox.join(", ") || "without any permission"),
      fact("http:// in the page", effective.upgrade_insecure_requests ? "loads over https" : null),
      fact("Reports go to", listFirst(reports, MOST_NAMED)),
      fact("Policies", has ? describePolicies(policies) : null),
      ...pageFacts(data),
    ),
    tables: existing(
      table(
        "Points",
        ["Reason", "#Points"],
        data.score_steps.map(({ message, points }) => [
          message.replace(/\.$/, ""),
          points > 0 ? `+${points}` : String(points),
        ]),
      ),
      has && table("What may load", ["What", "Directive", "Allowed"], rowsOf(effective)),
    ),
  };
});

/** Says the grade, and the weakness that costs most points. */
function headlineOf(data: Csp): string {
  const page = `${shortUrl(data.url)}${errorPageNote(data)}`;
  if (data.policies.length === 0) return `${page} sends no Content-Security-Policy: injected scripts run`;
  if (!data.enforced) return `The Content-Security-Policy of ${page} only reports: it blocks nothing`;
  const [worstStep] = data.score_steps.filter(({ points }) => points < 0).toSorted((a, b) => a.points - b.points);
  const why = worstStep === undefined ? ", no weakness found" : `. ${worstStep.message.replace(/\.$/, "")}`;
  return `${page}: grade ${data.grade}${why}`;
}

/** Lists the sources of each directive. Those of script elements and event handlers only if they are others. */
function rowsOf(effective: Effective): readonly (readonly string[])[] {
  return DIRECTIVES.flatMap(([key, what]) => {
    const sources = effective[key];
    if (typeof sources === "boolean") return [];
    const isScript = key === "script_src_elem" || key === "script_src_attr";
    if (isScript && String(sources) === String(effective.script_src)) return [];
    return [[what, key.replaceAll("_", "-"), sourcesOf(sources)]];
  });
}

/** Describes sources in words. Nonces and hashes say nothing to a reader: only their kind is shown. */
function sourcesOf(sources: readonly string[] | null): string {
  if (sources === null) return "any";
  if (sources.length === 0) return "none";
  const shown = sources.map((source) => source.replace(/^'(nonce|sha256|sha384|sha512)-[^']*'$/i, "'$1-…'"));
  return listFirst(Array.from(new Set(shown)), MOST_SOURCES);
}

const DELIVERED = { header: "header", meta: "meta element", "report-only": "report-only header" } as const;

function describePolicies(policies: Csp["policies"]): string {
  const kinds = Object.entries(DELIVERED).map(([source, name]) => {
    const count = policies.filter((policy) => policy.source === source).length;
    return count > 0 && counted(count, name);
  });
  return existing(...kinds).join(", ");
}
