import { Type } from "typebox";
import { defineTool } from "#shared/tools/define.ts";
import { Nullable, Url } from "#shared/tools/fields.ts";
import {
  count,
  findings,
  list,
  OBSERVED_FIELDS,
  PAGE_FIELDS,
  record,
  text,
  truth,
  word,
} from "#shared/tools/shapes.ts";

const REFERENCE = {
  tag: text("Element with the reference"),
  attr: text("Attribute with the reference; text for the content of a style element"),
  url: text("Insecure address, resolved against the page"),
  line: count("Line of the HTML, from 1"),
};

const Reference = record(REFERENCE, "One reference to an insecure address");
const Passive = record(
  {
    ...REFERENCE,
    upgradable: truth(
      "Whether browsers request it over https instead; false for hosts that are IP addresses, which are blocked",
    ),
  },
  "One reference to an image, audio or video at an insecure address",
);

/** The mixed-content tool: finds the insecure references of a secure page. */
export const mixedContent = defineTool({
  name: "mixed-content",
  title: "Mixed content",
  summary: "What an HTTPS page loads or submits over HTTP, with line numbers, and what browsers block or upgrade",
  scope: "check",
  toolset: "page",
  target: { param: "url", kind: "url", connects: true },
  example: { url: "https://example.com" },
  deadlineMs: () => 30_000,
  params: Type.Object({ url: Url({ description: "Page to check; redirects are followed" }) }),
  result: Type.Object({
    ...PAGE_FIELDS,
    https: truth("Whether the page was served over HTTPS; if not, nothing is mixed"),
    verdict: Nullable(
      word(
        ["clean", "passive", "active", "blocked"],
        "clean: no insecure reference; active: browsers block parts of the page; passive: all references are upgraded, by browsers or by the policy; blocked: the policy blocks all; null if there was no page to check, or the page is incomplete and its part has no insecure reference",
      ),
    ),
    active: list(Reference, "Blocked by browsers: scripts, styles, frames, fonts, image sets ...; the first 100"),
    passive: list(Passive, "Requested over https instead: images, audio, video; the first 100"),
    forms: list(Reference, "Forms and buttons that submit to an insecure address; the first 100"),
    css_urls: list(
      Reference,
      "References of style elements and attributes, also listed as active or passive; the first 100",
    ),
    counts: record(
      {
        active: count("Number of references that browsers block"),
        passive: count("Number of references to images, audio and video"),
        forms: count("Number of insecure form targets"),
        css: count("Number of references in style elements and attributes"),
      },
      "Numbers of references found, including those not listed",
    ),
    upgrade_insecure_requests: truth("Whether the page's policy upgrades all references to https"),
    block_all: truth("Whether the page's policy blocks all references (block-all-mixed-content)"),
    findings: findings(),
    ...OBSERVED_FIELDS,
  }),
  across: { agreeOn: ({ verdict, counts }) => [verdict, counts], measure: () => ({}) },
});
