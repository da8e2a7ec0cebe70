import { Type } from "typebox";
import { defineTool } from "#shared/tools/define.ts";
import { Nullable, Url } from "#shared/tools/fields.ts";
import {
  findings,
  integer,
  letterGrade,
  list,
  OBSERVED_FIELDS,
  PAGE_FIELDS,
  points,
  record,
  text,
  texts,
  truth,
  word,
} from "#shared/tools/shapes.ts";

function sources(what: string) {
  return Nullable(texts(`${what}: what may load; [] is nothing, null no restriction`));
}

const Policy = record(
  {
    source: word(["header", "meta", "report-only"], "How it was delivered; report-only ones stop nothing"),
    raw: text("As sent, maybe cut"),
    directives: Type.Record(Type.String(), Type.Array(Type.String()), {
      description: "Values by directive name in lower case; of repeated directives the first counts",
    }),
  },
  "One policy; a header may hold several, separated by commas",
);

const Effective = record(
  {
    script_src: sources("Scripts"),
    script_src_elem: sources("Script elements"),
    script_src_attr: sources("Event handler attributes"),
    style_src: sources("Styles"),
    img_src: sources("Images"),
    media_src: sources("Audio and video"),
    font_src: sources("Fonts"),
    connect_src: sources("fetch, XMLHttpRequest, WebSocket and their kin"),
    object_src: sources("object and embed"),
    frame_src: sources("Frames in the page"),
    child_src: sources("Frames and workers where nothing nearer is set"),
    worker_src: sources("Workers"),
    manifest_src: sources("Web app manifests"),
    base_uri: sources("base elements"),
    form_action: sources("Targets of forms"),
    frame_ancestors: sources("Pages that may frame this one"),
    upgrade_insecure_requests: truth("http: references are requested over https"),
    block_all_mixed_content: truth("http: references of an https page are blocked"),
    sandbox: Nullable(texts("Sandbox flags lifted; null where the page is not sandboxed")),
    require_trusted_types_for: texts("Sinks that take Trusted Types only, e.g. 'script'"),
  },
  "What all enforced policies together allow (of report-only ones where nothing is enforced)",
);

const ScoreStep = record(
  {
    id: text("Stable name, e.g. script-unsafe-inline"),
    points: integer("Points added to or taken from 100"),
    message: text("Why"),
  },
  "One step of the score",
);

const Endpoint = record(
  { name: text("Group that report-to names"), url: text("Where its reports go") },
  "A destination defined by Reporting-Endpoints or Report-To",
);

/** What a page's Content-Security-Policy allows, and what it is worth. */
export const csp = defineTool({
  name: "csp",
  title: "Content-Security-Policy",
  summary: "The policies of a page taken together, what an attacker could still do, and a grade",
  scope: "check",
  toolset: "web",
  target: { param: "url", kind: "url", connects: true },
  example: { url: "https://example.com" },
  deadlineMs: () => 30_000,
  open: { q: "url" },
  params: Type.Object({ url: Url({ description: "Page whose policies are read; redirects are followed" }) }),
  result: Type.Object({
    ...PAGE_FIELDS,
    grade: letterGrade("Grade of the score; F without a policy"),
    score: points("100 plus the points of score_steps, within 0 to 100; at most 30 where policies only report"),
    score_steps: list(ScoreStep, "What changes the score from 100; empty without a policy"),
    enforced: truth("At least one policy is enforced"),
    strict_csp: truth("Nonces or hashes alone decide about scripts; plugins and base elements are locked"),
    trusted_types: truth("Trusted Types are required for scripts"),
    policies: list(Policy, "As delivered: headers, then meta elements of the head"),
    effective: Effective,
    findings: findings(),
    bypass_hosts: texts("Allowed script sources known to serve what bypasses the policy"),
    reporting: record(
      {
        report_uri: texts("Addresses of report-uri"),
        report_to: texts("Groups of report-to"),
        endpoints: list(Endpoint, "Where reports of groups go"),
      },
      "Where violations are reported",
    ),
    ...OBSERVED_FIELDS,
  }),
  // Not the policies themselves: nonces differ from answer to answer.
  across: { agreeOn: ({ score, enforced, strict_csp }) => [score, enforced, strict_csp], measure: () => ({}) },
});
