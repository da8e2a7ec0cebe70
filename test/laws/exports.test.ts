import { describe, expect, it } from "vitest";
import { readSourceFiles } from "#test/laws/source-files.ts";

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

  it("that tests alone import are used in their own file", () => {
    const idle = exported
      .filter(({ key, path }) => !byProduct.has(key) && !byProduct.has(`${path}#*`))
      .filter(({ uses }) => uses < 2)
      .map(({ key }) => key);
    expect(idle).toEqual([]);
  });
});
