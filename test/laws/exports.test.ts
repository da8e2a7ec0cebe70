import { describe, expect, it } from "vitest";
import { readSourceFiles } from "#test/laws/source-files.ts";

/** Entry points with fixed paths that nothing in the product calls. */
const ENTRY_POINTS: ReadonlySet<string> = new Set([
  "control-plane/people/audit/canonical.ts#canonicalize",
  "probe-agent/analysis/carbon.ts#co2PerVisit",
  "probe-agent/analysis/dnssec.ts#validateRecords",
  "probe-agent/analysis/email-headers.ts#analyseHeaders",
  "probe-agent/analysis/html-metadata.ts#openGraph",
  "probe-agent/analysis/html-metadata.ts#structuredData",
  "probe-agent/analysis/robots.ts#robotsAllowed",
  "probe-agent/analysis/tech.ts#detect",
]);

const files = readSourceFiles();

/** Names that modules import, as path#name; path#* for a whole module. */
function importedNames(from: readonly { readonly path: string; readonly text: string }[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { text } of from) {
    for (const [, list = "", module = ""] of text.matchAll(/import\s+(?:type\s+)?\{([^}]*)\}\s+from\s+"#([^"]+)"/g)) {
      for (const name of list.split(",")) {
        const plain = name
          .trim()
          .replace(/^type /, "")
          .split(" as ")[0];
        if (plain !== undefined && plain !== "") names.add(`${module}#${plain}`);
      }
    }
    for (const [, whole, dynamic] of text.matchAll(
      /import\s+\*\s+as\s+\w+\s+from\s+"#([^"]+)"|import\("#([^"]+)"\)/g,
    )) {
      names.add(`${whole ?? dynamic}#*`);
    }
  }
  return names;
}

const product = files.filter(({ path }) => /^(control-plane|probe-agent|shared)\//.test(path));
const byProduct = importedNames(files.filter(({ path }) => !path.startsWith("test/")));
const byAnyone = importedNames(files);
const exported = product.flatMap(({ path, code }) =>
  Array.from(
    code.matchAll(/^export (?:async )?(?:function\*?|interface|type|const|class) (\w+)/gm),
    ([, name = ""]) => ({
      path,
      name,
      key: `${path}#${name}`,
      uses: code.match(new RegExp(`\\b${name}\\b`, "g"))?.length ?? 0,
    }),
  ),
);

describe("exports", () => {
  it("are imported by somebody", () => {
    const idle = exported
      .filter(({ key, path }) => !byAnyone.has(key) && !byAnyone.has(`${path}#*`))
      .map(({ key }) => key);
    expect(idle).toEqual([]);
  });

  it("that tests alone import are used in their own file, or are fixed entry points", () => {
    const idle = exported
      .filter(({ key, path }) => !byProduct.has(key) && !byProduct.has(`${path}#*`))
      .filter(({ key, uses }) => uses < 2 && !ENTRY_POINTS.has(key))
      .map(({ key }) => key);
    expect(idle).toEqual([]);
  });
});
