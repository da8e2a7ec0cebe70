import { Type } from "typebox";
import { text, word } from "#shared/tools/shapes.ts";

/** Where a technology shows, in the words of results. */
export const EVIDENCE_TYPES = [
  "url",
  "header",
  "cookie",
  "meta",
  "html",
  "text",
  "css",
  "script_src",
  "script",
  "dom",
  "robots",
  "dns",
  "certificate_issuer",
  "xhr",
  "path",
  "implied",
] as const;
/** One of these words. */
export type EvidenceType = (typeof EVIDENCE_TYPES)[number];

/** One thing that shows a technology. */
export const TechEvidence = Type.Object({
  type: word(
    EVIDENCE_TYPES,
    "Where it was seen; dom: an element by CSS selector; path: a well-known file of it; implied: another technology needs it",
  ),
  match: text("What was seen, at most 160 characters"),
});
