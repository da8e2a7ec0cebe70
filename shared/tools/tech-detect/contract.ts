import { Type, type Static } from "typebox";
import { defineTool } from "#shared/tools/define.ts";
import { Nullable, Url } from "#shared/tools/fields.ts";
import { count, integer, list, OBSERVED_FIELDS, PAGE_FIELDS, record, text, word } from "#shared/tools/shapes.ts";

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

const Technology = Type.Object({
  name: text("Name of the technology"),
  slug: text("The name as a stable key: lower-case letters, digits, hyphens"),
  categories: list(
    Type.Object({ id: integer("Number of the category, as in public rule sets"), name: text("Name of the category") }),
    "Categories of the technology",
  ),
  version: Nullable(text("Version that the page reveals; null if it reveals none")),
  confidence: Type.Integer({ minimum: 1, maximum: 100, description: "Confidence of the detection, percent" }),
  evidence: list(TechEvidence, "Evidence, at most six items"),
  website: Nullable(text("Home page of the technology")),
  cpe: Nullable(text("CPE 2.3 name for vulnerability databases, with the version if known")),
  implied_by: Nullable(text("Name of the technology that implies it; null if it was detected itself")),
});

const Result = Type.Object({
  ...PAGE_FIELDS,
  technologies: list(Technology, "Technologies found, sorted by confidence, then by name"),
  count: count("Number of technologies found, including those not shown"),
  categories: Type.Unsafe<Record<string, string[]>>({
    type: "object",
    additionalProperties: { type: "array", items: { type: "string" } },
    description: "Names of the listed technologies by category",
  }),
  js_detection: word(["static"], "static: scripts were read, not run"),
  rules: record(
    {
      technologies: count("Technologies in the rules"),
      unusable: count("Patterns in the rules that could not be used"),
    },
    "The rules used for the detection",
  ),
  ...OBSERVED_FIELDS,
});

/** The tech-detect tool: detects the technologies of a page and its host. */
export const techDetect = defineTool({
  name: "tech-detect",
  title: "Technology fingerprint",
  summary: "Software, services and hosting of a page, with the evidence for each and its version if known",
  scope: "check",
  toolset: "page",
  target: { param: "url", kind: "url", connects: true },
  example: { url: "https://example.com" },
  deadlineMs: () => 30_000,
  params: Type.Object({ url: Url({ description: "Page to check; redirects are followed" }) }),
  result: Result,
  across: {
    agreeOn: ({ technologies }: Static<typeof Result>) =>
      technologies.map(({ slug, version }) => `${slug} ${version ?? ""}`).toSorted(),
    measure: () => ({}),
  },
});
