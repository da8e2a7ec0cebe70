import { Type, type Static } from "typebox";
import { defineTool } from "#shared/tools/define.ts";
import { Nullable, Url } from "#shared/tools/fields.ts";
import { list, OBSERVED_FIELDS, PAGE_FIELDS, record, text, texts, truth, word } from "#shared/tools/shapes.ts";
import { TechEvidence } from "#shared/tools/tech-detect/contract.ts";

const SYSTEM = {
  name: text("Name of the system"),
  slug: text("The name as a stable key: lower-case letters, digits, hyphens"),
  version: Nullable(text("Version that the site reveals; null if it reveals none")),
  confidence: Type.Integer({ minimum: 1, maximum: 100, description: "Confidence of the detection, percent" }),
  evidence: list(TechEvidence, "Evidence for the system"),
  website: Nullable(text("Home page of the system")),
  cpe: Nullable(text("CPE 2.3 name for vulnerability databases, with the version if known")),
};

const Part = {
  name: text("Folder or key of the part in the page's addresses"),
  version: Nullable(text("Version in the addresses of its files; null if there is none or they differ")),
};

const Result = Type.Object({
  ...PAGE_FIELDS,
  detected: truth("Whether a system was detected with a confidence of 50 percent or more"),
  cms: Nullable(
    record(
      {
        ...SYSTEM,
        headless: truth("Whether the system only provides the content, and another program renders the page"),
      },
      "System that runs the site; null if none was detected with 50 percent or more",
    ),
  ),
  candidates: list(Type.Object(SYSTEM), "Other systems with evidence in the page, sorted by confidence"),
  theme: Nullable(record(Part, "Theme or template of the system; null if none was found")),
  plugins: list(
    Type.Object({
      ...Part,
      source: word(["assets", "rest_api"], "assets: addresses of its files in the page; rest_api: the site's own list"),
    }),
    "Plugins, modules or extensions found, sorted by name, at most 100",
  ),
  page_builders: texts("Page builders found"),
  ecommerce: Nullable(text("Shop software found; null if none")),
  hosting: texts("Hosting and delivery services found"),
  latest_version: Nullable(text("Newest version of the system; null because no list of releases is available")),
  ...OBSERVED_FIELDS,
});

/** The cms tool: detects the content management system of a site. */
export const cms = defineTool({
  name: "cms",
  title: "CMS detection",
  summary: "Content management or shop system of a site with version, theme and plugins, even if its name was removed",
  scope: "check",
  toolset: "page",
  target: { param: "url", kind: "url", connects: true },
  example: { url: "https://example.com" },
  deadlineMs: () => 30_000,
  params: Type.Object({
    url: Url({
      description: "Page to check; redirects are followed, and up to three well-known files are requested",
    }),
  }),
  result: Result,
  across: {
    agreeOn: ({ cms: system }: Static<typeof Result>) => system && `${system.slug} ${system.version ?? ""}`,
    measure: () => ({}),
  },
});
