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
  tag: text("Element it stands in"),
  attr: text("Attribute it stands in; text for the content of a style element"),
  url: text("Insecure address, resolved against the page"),
  line: count("Line of the HTML, from 1"),
};

const Reference = record(REFERENCE, "One reference to an insecure address");
const Passive = record(
  {
    ...REFERENCE,
    upgradable: truth("Browsers request it over https instead; false for hosts that are addresses, which are blocked"),
  },
  "One reference to an image, audio or video at an insecure address",
);

/** Insecure references of a secure page. */
export const mixedContent = defineTool({
  name: "mixed-content",
  title: "Mixed content",
  summary: "What an HTTPS page loads or sends over HTTP, where it stands, and what browsers make of it",
  scope: "check",
  toolset: "page",
  target: { param: "url", kind: "url", connects: true },
  example: { url: "https://example.com" },
  deadlineMs: () => 30_000,
  params: Type.Object({ url: Url({ description: "Page to look through; redirects are followed" }) }),
  result: Type.Object({
    ...PAGE_FIELDS,
    https: truth("The page came over HTTPS; else nothing of it is mixed"),
    verdict: Nullable(
      word(
        ["clean", "passive", "active", "blocked"],
        "active: browsers block parts of the page; passive: they upgrade all of it, be it as the policy says; blocked: the policy blocks all; null where there was no page to look through, or nothing was found in the part of it that came",
      ),
    ),
    active: list(Reference, "Blocked by browsers: scripts, styles, frames, fonts, image sets ...; the first hundred"),
    passive: list(Passive, "Requested over https instead: images, audio, video; the first hundred"),
    forms: list(Reference, "Forms and buttons that send to an insecure address; the first hundred"),
    css_urls: list(
      Reference,
      "Those of style elements and attributes, also among active or passive; the first hundred",
    ),
    counts: record(
      {
        active: count("References browsers block"),
        passive: count("References browsers upgrade"),
        forms: count("Insecure form targets"),
        css: count("References in style elements and attributes"),
      },
      "All that were found, those not listed included",
    ),
    upgrade_insecure_requests: truth("The page's policy has browsers request all of them over https"),
    block_all: truth("The page's policy blocks all of them (block-all-mixed-content)"),
    findings: findings(),
    ...OBSERVED_FIELDS,
  }),
  across: { agreeOn: ({ verdict, counts }) => [verdict, counts], measure: () => ({}) },
});
