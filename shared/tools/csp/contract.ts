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
  return Nullable(texts(`${what}: allowed sources; [] allows nothing, null allows all`));
}

const Policy = record(
  {
    source: word(["header", "meta", "report-only"], "How it was delivered; report-only policies block nothing"),
    raw: text("As sent, possibly truncated"),
    directives: Type.Record(Type.String(), Type.Array(Type.String()), {
      description: "Values by directive name in lower case. The first of repeated directives counts",
    }),
  },
  "One policy. A header can contain several, separated by commas",
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
    connect_src: sources("fetch, XMLHttpRequest, WebSocket and similar"),
    object_src: sources("object and embed"),
    frame_src: sources("Frames in the page"),
    child_src: sources("Frames and workers without a more specific directive"),
    worker_src: sources("Workers"),
    manifest_src: sources("Web app manifests"),
    base_uri: sources("base elements"),
    form_action: sources("Targets of forms"),
    frame_ancestors: sources("Pages that can frame this one"),
    upgrade_insecure_requests: truth("http: references are requested over https"),
    block_all_mixed_content: truth("http: references of an https page are blocked"),
    sandbox: Nullable(texts("Capabilities that the sandbox allows; null if the page is not sandboxed")),
    require_trusted_types_for: texts("Sinks that accept only Trusted Types, e.g. 'script'"),
  },
  "What all enforced policies together allow; if none is enforced, what the report-only policies allow",
);

const ScoreStep = record(
  {
    id: text("Stable id, e.g. script-unsafe-inline"),
    points: integer("Points added to 100, or subtracted if negative"),
    message: text("Reason"),
  },
  "One step of the score",
);

const Endpoint = record(
  { name: text("Group for report-to"), url: text("URL that its reports are sent to") },
  "A destination defined by Reporting-Endpoints or Report-To",
);

/** What a page's Content-Security-Policy allows, and its grade. */
export const csp = defineTool({
  name: "csp",
  title: "Content-Security-Policy",
  summary: "The policies of a page combined, what they still allow an attacker to do, and a grade",
  scope: "check",
  toolset: "web",
  target: { param: "url", kind: "url", connects: true },
  example: { url: "https://example.com" },
  deadlineMs: () => 30_000,
  open: { q: "url" },
  params: Type.Object({ url: Url({ description: "Page whose policies to analyse. Redirects are followed" }) }),
  result: Type.Object({
    ...PAGE_FIELDS,
    grade: letterGrade("Grade of the score; F without a policy"),
    score: points("100 plus the points of score_steps, within 0 to 100; at most 30 if all policies are report-only"),
    score_steps: list(ScoreStep, "Changes of the score from 100; empty without a policy"),
    enforced: truth("At least one policy is enforced"),
    strict_csp: truth("Only nonces or hashes allow scripts; plugins and base elements are blocked"),
    trusted_types: truth("Trusted Types are required for scripts"),
    policies: list(Policy, "As delivered: headers, then meta elements of the head"),
    effective: Effective,
    findings: findings(),
    bypass_hosts: texts("Allowed script sources that are known to serve content which bypasses the policy"),
    reporting: record(
      {
        report_uri: texts("Addresses of report-uri"),
        report_to: texts("Groups of report-to"),
        endpoints: list(Endpoint, "Destinations of the groups"),
      },
      "Where violations are reported",
    ),
    ...OBSERVED_FIELDS,
  }),
  // Not the policies themselves: nonces differ from response to response.
  across: { agreeOn: ({ score, enforced, strict_csp }) => [score, enforced, strict_csp], measure: () => ({}) },
});
