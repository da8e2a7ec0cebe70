import { describe, expect, it } from "vitest";
import { readSourceFiles } from "#test/laws/source-files.ts";

/** Rooms of the agent's analysis, lowest first: a room imports only rooms before it. */
const ROOMS = ["text", "network", "dns", "registry", "http", "html", "web", "tls", "mail", "page", "site"];

const PREFIX = "probe-agent/analysis/";
const files = readSourceFiles().filter((file) => file.path.startsWith(PREFIX));

function roomOf(path: string): string | undefined {
  return path.startsWith(PREFIX) ? path.slice(PREFIX.length).split("/")[0] : undefined;
}

describe("rooms of analysis", () => {
  it("every file is in a room", () => {
    const homeless = files.filter((file) => !ROOMS.includes(roomOf(file.path) ?? "")).map((file) => file.path);
    expect(homeless).toEqual([]);
  });

  it("a room imports only rooms before it, type imports included", () => {
    const upward = files.flatMap((file) =>
      file.imports
        .filter((name) => ROOMS.indexOf(roomOf(name) ?? "text") > ROOMS.indexOf(roomOf(file.path) ?? ""))
        .map((name) => `${file.path} -> ${name}`),
    );
    expect(upward).toEqual([]);
  });
});
