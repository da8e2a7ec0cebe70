import { Type } from "typebox";
import { text, word } from "#shared/tools/shapes.ts";

/** Kinds of evidence for a technology, as in results. */
const EVIDENCE_TYPES = [
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
/** One of these kinds. */
export type EvidenceType = (typeof EVIDENCE_TYPES)[number];

/** One piece of evidence for a technology. */
export const TechEvidence = Type.Object({
  type: word(
    EVIDENCE_TYPES,
    "Kind of evidence; dom: an element by CSS selector; path: a well-known file of the technology; implied: another technology requires it",
  ),
  match: text("Matched text, at most 160 characters"),
});
