import { describe, expect, it } from "vitest";
import { findSmallFiles, REGISTRIES, STAY } from "#test/laws/small-files.ts";
import { parseSourceFile, readSourceFiles, roomOf, type SourceFile } from "#test/laws/source-files.ts";

const product = readSourceFiles(["control-plane", "probe-agent", "shared"]);

/** The rooms that each room imports, `import type` included. */
function importsByRoom(files: readonly SourceFile[]): ReadonlyMap<string, ReadonlySet<string>> {
  const rooms = new Map(files.map((file) => [roomOf(file.path), new Set<string>()]));
  for (const file of files) {
    const room = roomOf(file.path);
    for (const name of file.imports.map(roomOf)) if (name !== room && rooms.has(name)) rooms.get(room)?.add(name);
  }
  return rooms;
}

/** The rooms that a room reaches over imports; with itself where it lies on a circle. */
function reachableFrom(room: string, imports: ReadonlyMap<string, ReadonlySet<string>>): ReadonlySet<string> {
  const reached = new Set(imports.get(room));
  for (const next of reached) for (const further of imports.get(next) ?? []) reached.add(further);
  return reached;
}

/** Groups of rooms that reach each other, each as "a <-> b". */
function findCircles(files: readonly SourceFile[]): readonly string[] {
  const imports = importsByRoom(files);
  const reach = new Map(Array.from(imports.keys(), (room) => [room, reachableFrom(room, imports)]));
  const circles = Array.from(reach, ([room, reached]) =>
    [...reached].filter((other) => reach.get(other)?.has(room) === true).toSorted(),
  );
  return [...new Set(circles.filter((circle) => circle.length > 1).map((circle) => circle.join(" <-> ")))].toSorted();
}

/** The imports of files that a rule forbids, as lines for the failure message. */
function forbidden(files: readonly SourceFile[], isForbidden: (name: string) => boolean): readonly string[] {
  return files.flatMap(({ path, imports }) => imports.filter(isForbidden).map((name) => `${path}: ${name}`));
}

describe("rooms", () => {
  it("import each other in no circle, type imports counted", () => {
    expect(findCircles(product)).toEqual([]);
  });

  it("of the HTTP side know no noun: http imports only what lies below it", () => {
    const http = product.filter(({ path }) => path.startsWith("control-plane/http/"));
    const below = /^control-plane\/(http|access|plans|database|idempotency)\/|^control-plane\/metrics\.ts$/;
    expect(forbidden(http, (name) => name.startsWith("control-plane/") && !below.test(name))).toEqual([]);
  });

  it("that know what monitors are import nothing of their records: those use these rooms", () => {
    const below =
      /^control-plane\/(checking|events|evidence|expiry|heartbeats|history|incidents|kinds|mail|maintenance|pictures|state)\//;
    const files = product.filter(({ path }) => below.test(path));
    expect(forbidden(files, (name) => name.startsWith("control-plane/monitors/"))).toEqual([]);
  });

  it("never import the app: only main, serve and its two halves put the control plane together", () => {
    const others = product.filter(
      ({ path }) => !/^control-plane\/(main|serve|open-parts|build-server)\.ts$/.test(path),
    );
    expect(forbidden(others, (name) => name === "control-plane/app.ts")).toEqual([]);
  });

  it("of checks decide nothing by the name of a tool", () => {
    const checks = product.filter(({ path }) => path.startsWith("control-plane/checks/"));
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
  const paths = new Set(product.map(({ path }) => path));
  const small = findSmallFiles(product);

  it("is part of the one file that imports it, where both are in one room", () => {
    expect(small.filter((path) => !STAY.has(path))).toEqual([]);
  });

  it("leaves the list of exceptions once it is merged or has grown", () => {
    expect([...STAY.keys()].filter((path) => !small.includes(path))).toEqual([]);
    expect(REGISTRIES.filter((path) => !paths.has(path))).toEqual([]);
  });

  it("has a second importer, another room, a registry or a full importer as its reason", () => {
    const file = (path: string, lines: number, ...imports: readonly string[]) =>
      parseSourceFile(path, imports.map((name) => `import { a } from "#${name}";\n`).join("") + "\n".repeat(lines));
    const registry = REGISTRIES[0] ?? "";
    const files = [
      ...["shared/a/one.ts", "shared/a/two.ts", "shared/a/far.ts", "shared/a/tool.ts", "shared/a/beside.ts"].map(
        (path) => file(path, 39),
      ),
      file("shared/a/long.ts", 40),
      file("shared/a/uses.ts", 90, "shared/a/one.ts", "shared/a/two.ts", "shared/a/long.ts"),
      file("shared/a/also.ts", 90, "shared/a/two.ts"),
      file("shared/b/uses.ts", 90, "shared/a/far.ts"),
      file(registry, 90, "shared/a/tool.ts"),
      file("shared/a/full.ts", 181, "shared/a/beside.ts"),
    ];
    expect(findSmallFiles(files)).toEqual(["shared/a/one.ts"]);
  });
});
