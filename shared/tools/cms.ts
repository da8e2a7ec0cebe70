import { Type, type Static } from "typebox";
import { defineTool } from "#shared/tools/define.ts";
import { Nullable, Url } from "#shared/tools/fields.ts";
import { list, OBSERVED_FIELDS, PAGE_FIELDS, record, text, texts, truth, word } from "#shared/tools/shapes.ts";
import { TechEvidence } from "#shared/tools/tech-detect/evidence.ts";

const SYSTEM = {
  name: text("Name of the system"),
  slug: text("The name as a stable key: lower-case letters, digits, hyphens"),
  version: Nullable(text("Version as the site shows it; null where it shows none")),
  confidence: Type.Integer({ minimum: 1, maximum: 100, description: "How sure it is, percent" }),
  evidence: list(TechEvidence, "What shows it"),
  website: Nullable(text("Its home page")),
  cpe: Nullable(text("CPE 2.3 name for vulnerability databases, with the version where it is known")),
};

const Part = {
  name: text("Its folder or key, as the page's addresses show it"),
  version: Nullable(text("Version in the addresses of its files; null where there is none or they disagree")),
};

const Result = Type.Object({
  ...PAGE_FIELDS,
  detected: truth("A system was recognised with 50 percent or more"),
  cms: Nullable(
    record(
      {
        ...SYSTEM,
        headless: truth("The content comes from it, the page from another program"),
      },
      "The system the site is run with; null where none is sure enough",
    ),
  ),
  candidates: list(Type.Object(SYSTEM), "Others the page shows, the surest first"),
  theme: Nullable(record(Part, "Theme or template of the system; null where none shows")),
  plugins: list(
    Type.Object({
      ...Part,
      source: word(["assets", "rest_api"], "assets: addresses of its files in the page; rest_api: the site's own list"),
    }),
    "Plugins, modules or extensions that show, by name, at most 100",
  ),
  page_builders: texts("Page builders that show"),
  ecommerce: Nullable(text("Shop software that shows; null for none")),
  hosting: texts("Hosting and delivery services that show"),
  latest_version: Nullable(text("Newest version of the system; null: no list of releases is at hand")),
  ...OBSERVED_FIELDS,
});

/** The content management system of a site. */
export const cms = defineTool({
  name: "cms",
  title: "CMS detection",
  summary:
    "The content management or shop system of a site with version, theme and plugins, also where its name was removed",
  scope: "check",
  toolset: "page",
  target: { param: "url", kind: "url", connects: true },
  example: { url: "https://example.com" },
  deadlineMs: () => 30_000,
  params: Type.Object({
    url: Url({
      description: "Page to look at; redirects are followed, and up to three well-known files are asked for",
    }),
  }),
  result: Result,
  across: {
    agreeOn: ({ cms: system }: Static<typeof Result>) => system && `${system.slug} ${system.version ?? ""}`,
    measure: () => ({}),
  },
});
