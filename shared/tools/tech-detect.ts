import { Type, type Static } from "typebox";
import { defineTool } from "#shared/tools/define.ts";
import { Nullable, Url } from "#shared/tools/fields.ts";
import { count, integer, list, OBSERVED_FIELDS, PAGE_FIELDS, record, text, word } from "#shared/tools/shapes.ts";
import { TechEvidence } from "#shared/tools/tech-detect/evidence.ts";

const Technology = Type.Object({
  name: text("Name of the technology"),
  slug: text("The name as a stable key: lower-case letters, digits, hyphens"),
  categories: list(
    Type.Object({ id: integer("Number of the category, as in public rule sets"), name: text("Its name") }),
    "What kind of thing it is",
  ),
  version: Nullable(text("Version as the page shows it; null where it shows none")),
  confidence: Type.Integer({ minimum: 1, maximum: 100, description: "How sure it is, percent" }),
  evidence: list(TechEvidence, "What shows it, at most six"),
  website: Nullable(text("Its home page")),
  cpe: Nullable(text("CPE 2.3 name for vulnerability databases, with the version where it is known")),
  implied_by: Nullable(text("Name of the technology it follows from; null where it was seen itself")),
});

const Result = Type.Object({
  ...PAGE_FIELDS,
  technologies: list(Technology, "What was found, the surest first, then by name"),
  count: count("Technologies found, also those that are not shown"),
  categories: Type.Unsafe<Record<string, string[]>>({
    type: "object",
    additionalProperties: { type: "array", items: { type: "string" } },
    description: "Names of the technologies shown, by the name of their category",
  }),
  js_detection: word(["static"], "static: scripts were read, not run"),
  rules: record(
    { technologies: count("Technologies known"), unusable: count("Patterns in them that could not be used") },
    "The rules this was told by",
  ),
  ...OBSERVED_FIELDS,
});

/** What a site is made with. */
export const techDetect = defineTool({
  name: "tech-detect",
  title: "Technology fingerprint",
  summary: "The software, services and hosting a page shows, with the evidence for each and its version where it tells",
  scope: "check",
  toolset: "page",
  target: { param: "url", kind: "url", connects: true },
  example: { url: "https://example.com" },
  deadlineMs: () => 30_000,
  params: Type.Object({ url: Url({ description: "Page to look at; redirects are followed" }) }),
  result: Result,
  across: {
    agreeOn: ({ technologies }: Static<typeof Result>) =>
      technologies.map(({ slug, version }) => `${slug} ${version ?? ""}`).toSorted(),
    measure: () => ({}),
  },
});
