import { describe, expect, it } from "vitest";
import { findSmallFiles } from "#test/laws/small-files.ts";
import { parseSourceFile, readSourceFiles, wingOf, type SourceFile } from "#test/laws/source-files.ts";

const product = readSourceFiles(["control-plane", "probe-agent", "shared"]);
const tests = readSourceFiles(["test"]);

/** Names the part of the product to which a file belongs. */
type PartOf = (path: string) => string;

/** The parts that each part imports, `import type` included. */
function importsByPart(files: readonly SourceFile[], partOf: PartOf): ReadonlyMap<string, ReadonlySet<string>> {
  const parts = new Map(files.map((file) => [partOf(file.path), new Set<string>()]));
  for (const file of files) {
    const part = partOf(file.path);
    for (const name of file.imports.map(partOf)) if (name !== part && parts.has(name)) parts.get(part)?.add(name);
  }
  return parts;
}

/** The parts that a part reaches over imports; with itself where it lies on a circle. */
function reachableFrom(part: string, imports: ReadonlyMap<string, ReadonlySet<string>>): ReadonlySet<string> {
  const reached = new Set(imports.get(part));
  for (const next of reached) for (const further of imports.get(next) ?? []) reached.add(further);
  return reached;
}

/** Groups of parts that reach each other, each as "a <-> b". */
function findCircles(files: readonly SourceFile[], partOf: PartOf): readonly string[] {
  const imports = importsByPart(files, partOf);
  const reach = new Map(Array.from(imports.keys(), (part) => [part, reachableFrom(part, imports)]));
  const circles = Array.from(reach, ([part, reached]) =>
    [...reached].filter((other) => reach.get(other)?.has(part) === true).toSorted(),
  );
  return [...new Set(circles.filter((circle) => circle.length > 1).map((circle) => circle.join(" <-> ")))].toSorted();
}

/** A folder or a file right in a wing or room. */
function entryOf(path: string): string {
  return path.split("/").slice(0, 3).join("/");
}

/** The imports of files that a rule forbids, as lines for the failure message. */
function forbidden(files: readonly SourceFile[], isForbidden: (name: string) => boolean): readonly string[] {
  return files.flatMap(({ path, imports }) => imports.filter(isForbidden).map((name) => `${path}: ${name}`));
}

describe("wings and rooms", () => {
  it("import each other in no circle, type imports counted", () => {
    expect(findCircles(product, wingOf)).toEqual([]);
  });

  it("have no circle among their own folders and files either", () => {
    expect(findCircles(product, entryOf)).toEqual([]);
  });

  it("have no circle among files", () => {
    expect(findCircles(product, (path) => path)).toEqual([]);
  });

  it("lie on a circle if each imports the other, over others too", () => {
    const file = (path: string, imported: string) => parseSourceFile(path, `import { a } from "#${imported}";\n`);
    const files = [file("shared/a/x.ts", "shared/b/x.ts"), file("shared/b/y.ts", "shared/c/x.ts")];
    expect(findCircles([...files, file("shared/c/x.ts", "shared/d/x.ts")], wingOf)).toEqual([]);
    expect(findCircles([...files, file("shared/c/x.ts", "shared/a/y.ts")], wingOf)).toEqual([
      "shared/a <-> shared/b <-> shared/c",
    ]);
  });

  it("of checks decide nothing by the name of a tool", () => {
    // What is added to the jobs of some tools is of their names.
    const checks = product.filter(({ path }) => /^control-plane\/checks\/(?!job-inputs)[^/]+$/.test(path));
    const byName = /switch \([^)]*contract\.name\)|contract\.name\s*[!=]==|[!=]==\s*(?:\w+\.)*contract\.name/;
    expect(checks.filter(({ code }) => byName.test(code)).map(({ path }) => path)).toEqual([]);
    expect(forbidden(checks, (name) => /^shared\/tools\/(?!(?:define|parse-params)\.ts$)/.test(name))).toEqual([]);
  });

  it("read a tool's parameters with one function", () => {
    const callers = product.filter(({ path }) => path.startsWith("control-plane/"));
    expect(callers.filter(({ code }) => /\.refine\b/.test(code)).map(({ path }) => path)).toEqual([]);
  });
});

describe("a file of a few lines", () => {
  const small = findSmallFiles(product, tests);

  it("is part of the one file that imports it, where both are in one room", () => {
    expect(small).toEqual([]);
  });

  const file = (path: string, lines: number, ...imports: readonly string[]) =>
    parseSourceFile(path, imports.map((name) => `import { a } from "#${name}";\n`).join("") + "\n".repeat(lines));

  it("has a second importer, another room or a full importer as its reason", () => {
    const files = [
      ...["one", "two", "far", "beside"].map((name) => file(`shared/a/${name}.ts`, 49)),
      file("shared/a/long.ts", 50),
      file("shared/a/uses.ts", 90, "shared/a/one.ts", "shared/a/two.ts", "shared/a/long.ts"),
      file("shared/a/also.ts", 90, "shared/a/two.ts"),
      file("shared/b/uses.ts", 90, "shared/a/far.ts"),
      file("shared/a/full.ts", 181, "shared/a/beside.ts"),
    ];
    expect(findSmallFiles(files, [])).toEqual(["shared/a/one.ts"]);
  });

  it("or an importer that lists files like it", () => {
    const entries = ["a", "b", "c", "d"].map((name) => file(`shared/list/${name}.ts`, 9));
    const listing = (count: number) =>
      file("shared/list/all.ts", 9, ...entries.slice(0, count).map(({ path }) => path));
    expect(findSmallFiles([...entries, listing(4)], [])).toEqual([]);
    expect(findSmallFiles([...entries, listing(3)], [])).toHaveLength(3);
  });

  it("or a test that loads it without what its importer opens or starts", () => {
    const socket = parseSourceFile(
      "shared/a/socket.ts",
      'import { connect } from "node:net";\nimport { a } from "#shared/a/plan.ts";\n',
    );
    const main = file("shared/b/main.ts", 9, "shared/b/part.ts");
    const files = [
      file("shared/a/plan.ts", 9),
      socket,
      file("shared/a/run.ts", 9, "shared/a/socket.ts"),
      file("shared/a/open.ts", 230, "shared/a/run.ts"),
      file("shared/b/part.ts", 9),
      main,
    ];
    const loading = [file("test/a.test.ts", 9, "shared/a/plan.ts", "shared/a/socket.ts", "shared/b/part.ts")];
    expect(findSmallFiles(files, [])).toEqual(["shared/a/plan.ts", "shared/a/socket.ts", "shared/b/part.ts"]);
    expect(findSmallFiles(files, loading)).toEqual(["shared/a/socket.ts"]);
  });
});
