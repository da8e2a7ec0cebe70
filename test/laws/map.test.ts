import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { DOCUMENTS } from "#test/laws/documents.ts";
import { readSourceFiles, ROOT } from "#test/laws/source-files.ts";

// Documents name files by their paths from the root, as imports do. A file that moves takes its name in them along.

/** What is not of the repository, or is put there by a tool. */
const NOT_OURS = /(?:^|\/)(?:node_modules|\.git|\.vantage)(?:\/|$)/;
const TOP = readdirSync(ROOT, { withFileTypes: true }).filter(({ name }) => !NOT_OURS.test(name));
const TOP_FOLDERS = new Set(TOP.flatMap((entry) => (entry.isDirectory() ? entry.name : [])));
/** Every file and folder, folders with a slash at the end. */
const PATHS = TOP.flatMap((entry) => (entry.isDirectory() ? listFolder(entry.name) : entry.name));

function listFolder(folder: string): string[] {
  const inside = readdirSync(join(ROOT, folder), { withFileTypes: true }).filter(({ name }) => !NOT_OURS.test(name));
  return [
    `${folder}/`,
    ...inside.flatMap((entry) =>
      entry.isDirectory() ? listFolder(`${folder}/${entry.name}`) : `${folder}/${entry.name}`,
    ),
  ];
}

/** A name without a folder is a path, too, if it ends like a source or a document of ours. */
const SOURCE_NAME = /^[\w.<*][^:]*\.(?:ts|mjs|sql|proto|md|sh|service)$/;
const FENCED = /^```\w*\n([\s\S]*?)^```$/gm;

/** Lists the paths that a document names in code and links, as written. */
function findNamed(document: string): readonly string[] {
  const text = document.replaceAll(FENCED, "");
  const fenced = Array.from(document.matchAll(FENCED), ([, code = ""]) => code.split(/\s+/)).flat();
  const spans = Array.from(text.matchAll(/`([^`]+)`/g), ([, code = ""]) => code.split(/\s+/)).flat();
  const links = Array.from(text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g), ([, target = ""]) => target);
  const words = [...fenced.filter(isInFolder), ...spans.filter((word) => isInFolder(word) || SOURCE_NAME.test(word))];
  return [...new Set([...words, ...links.filter((target) => !/^[a-z]+:/.test(target))])];
}

function isInFolder(word: string): boolean {
  const [first = "", ...others] = word.replace(/^["'#/]+/, "").split("/");
  return others.length > 0 && TOP_FOLDERS.has(first);
}

/** Reports whether a path exists. `*` and `<name>` are one part of a name, `**` any path, a slash at the end a folder. */
function exists(named: string): boolean {
  const path = named.replace(/^["'#/]+/, "").replace(/["',;]+$/, "");
  const parts = path.split(/(\*\*|\*|<[^<>]*>)/).map((part, index) => {
    if (index % 2 === 0) return RegExp.escape(part);
    return part === "**" ? ".*" : "[^/]+";
  });
  const pattern = new RegExp(`^${parts.join("")}${path.endsWith("/") ? "" : "/?"}$`);
  return PATHS.some((known) => pattern.test(known));
}

/** Anchors of the headings of a document, as GitHub writes them. */
function anchorsOf(path: string): ReadonlySet<string> {
  const headings = readFileSync(join(ROOT, path), "utf8")
    .replaceAll(FENCED, "")
    .matchAll(/^#+ (.*)$/gm);
  return new Set(
    Array.from(headings, ([, title = ""]) =>
      title
        .toLowerCase()
        .replaceAll(/[^\w\s-]/g, "")
        .replaceAll(/\s/g, "-"),
    ),
  );
}

it("every document of the repository is known", () => {
  const documents = PATHS.filter((path) => path.endsWith(".md") && !path.startsWith("test/fixtures/"));
  expect(documents.toSorted()).toEqual(DOCUMENTS.toSorted());
});

describe.each(DOCUMENTS)("%s", (path) => {
  const text = readFileSync(join(ROOT, path), "utf8");

  it("names only files and folders that exist, by their paths from the root", () => {
    expect(findNamed(text).filter((named) => !exists(named))).toEqual([]);
  });

  it("links to headings that exist, and from a folder with a slash before the path", () => {
    const links = Array.from(
      text.matchAll(/\]\((?![a-z]+:)([^)#\s]*)(?:#([^)\s]*))?\)/g),
      ([, target = "", anchor]) => ({
        target,
        file: target === "" ? path : target.replace(/^\//, ""),
        anchor,
      }),
    );
    const relative = links.filter(({ target }) => path.includes("/") && target !== "" && !target.startsWith("/"));
    expect(relative).toEqual([]);
    const lost = links.filter(({ file, anchor }) => anchor !== undefined && !anchorsOf(file).has(anchor));
    expect(lost).toEqual([]);
  });
});

/** Folders whose rooms are listed from bottom to top: each imports only what is listed before it. */
const LAYERED = ["control-plane", "probe-agent", "shared"];

/** What the README of a folder lists, one line each, in its order: what lies in the folder, or in its wings. */
function readRooms(folder: string, depth: "folder" | "wings" = "folder"): readonly string[] {
  const text = readFileSync(join(ROOT, folder, "README.md"), "utf8");
  const paths = Array.from(text.matchAll(/^- `([^`]+)`: ./gm), ([, path = ""]) => path);
  const parts = depth === "folder" ? 2 : 3;
  return paths.filter((path) => path.replace(/\/$/, "").split("/").length === parts);
}

describe("the README of a folder", () => {
  it.each([...LAYERED, "test"])("has one line for each room: %s", (folder) => {
    const rooms = readdirSync(join(ROOT, folder), { withFileTypes: true })
      .filter(({ name }) => !NOT_OURS.test(name) && name !== "README.md")
      .map((entry) => `${folder}/${entry.name}${entry.isDirectory() ? "/" : ""}`);
    expect(readRooms(folder).toSorted()).toEqual(rooms.toSorted());
  });

  it("has one line for each folder of a wing of the control plane", () => {
    const wings = readRooms("control-plane").filter((path) => path.endsWith("/"));
    const folders = wings.flatMap((wing) =>
      readdirSync(join(ROOT, wing), { withFileTypes: true }).flatMap((entry) =>
        entry.isDirectory() ? `${wing}${entry.name}/` : [],
      ),
    );
    expect(readRooms("control-plane", "wings").toSorted()).toEqual(folders.toSorted());
  });

  it.each(LAYERED)("lists each room below those that import it: %s", (folder) => {
    const order = readRooms(folder).map((room) => room.replace(/\/$/, ""));
    const placeOf = (path: string) => order.indexOf(path.split("/").slice(0, 2).join("/"));
    const above = readSourceFiles([folder]).flatMap(({ path, imports }) =>
      imports
        .filter((name) => name.startsWith(`${folder}/`) && placeOf(name) > placeOf(path))
        .map((name) => `${path} imports ${name}, whose room is listed after it`),
    );
    expect(above).toEqual([]);
  });
});

describe("paths in documents", () => {
  it("are found in code spans, links, lists and blocks, and nothing else is", () => {
    const document = [
      "Run `deploy/vantage keys list`, see [the map](/shared/README.md#map) and [a page](https://a.example/x).",
      "- `shared/time/clock.ts`: `Accept-*`, `text/event-stream` and `<data dir>/admin-token` are no paths",
      "```sh",
      "node test/bench/main.ts --out /tmp/x",
      "```",
      "`run-check.ts`",
    ].join("\n");
    const named = ["deploy/vantage", "shared/time/clock.ts", "run-check.ts", "test/bench/main.ts", "/shared/README.md"];
    expect(findNamed(document).toSorted()).toEqual(named.toSorted());
  });

  it.each([
    "deploy/vantage",
    "shared/",
    "shared",
    "shared/tools/<name>.ts",
    "control-plane/core/migrations/0*-*.sql",
    "test/**/map.test.ts",
  ])("%s exists", (named) => {
    expect(exists(named)).toBe(true);
  });

  it.each([
    "map.test.ts",
    "laws/map.test.ts",
    "shared/tools/<name>.js",
    "shared/clock.ts/",
    "control-plane/core/migrations/9*",
  ])("%s does not", (named) => {
    expect(exists(named)).toBe(false);
  });
});
