import { describe, expect, it } from "vitest";
import { readSourceFiles, type SourceFile } from "#test/laws/source-files.ts";

const product = readSourceFiles(["control-plane", "probe-agent", "shared"]);

/** A room: a folder right under control-plane, probe-agent or shared, or a file there. */
function roomOf(path: string): string {
  return path.split("/").slice(0, 2).join("/");
}

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

/** The largest folder that a reader finds a file in at a glance; the two lists of tools have one file a tool. */
const MOST_FILES = 30;
const ONE_FILE_A_TOOL = new Set(["shared/tools", "probe-agent/tools"]);

describe("rooms", () => {
  it("hold no more files than a reader can survey", () => {
    const sizes = new Map<string, number>();
    for (const { path } of product) {
      const folder = path.slice(0, path.lastIndexOf("/"));
      sizes.set(folder, (sizes.get(folder) ?? 0) + 1);
    }
    const large = [...sizes].filter(([folder, files]) => files > MOST_FILES && !ONE_FILE_A_TOOL.has(folder));
    expect(large).toEqual([]);
  });

  it("import each other in no circle, type imports counted", () => {
    expect(findCircles(product)).toEqual([]);
  });

  it("of the HTTP side know no noun: http imports only what lies below it", () => {
    const http = product.filter(({ path }) => path.startsWith("control-plane/http/"));
    const below = /^control-plane\/(http|access|plans|database|idempotency)\/|^control-plane\/metrics\.ts$/;
    expect(forbidden(http, (name) => name.startsWith("control-plane/") && !below.test(name))).toEqual([]);
  });

  it("that know monitors import nothing of their records, which import those rooms", () => {
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
