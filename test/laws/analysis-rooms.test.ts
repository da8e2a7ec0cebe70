import { describe, expect, it } from "vitest";
import { readSourceFiles } from "#test/laws/source-files.ts";

/** Rooms of the agent's analysis, lowest first: a room imports only rooms before it. */
const ROOMS = ["text", "network", "dns", "registry", "http", "html", "web", "tls", "mail", "page", "site"];

/** Files right under analysis: entry points with fixed paths, each a part of the room that it opens. */
const ENTRY_POINTS: Readonly<Record<string, string>> = {
  "statistics.ts": "network",
  "dnssec.ts": "dns",
  "whois.ts": "registry",
  "cookies.ts": "web",
  "csp.ts": "web",
  "robots.ts": "web",
  "security-headers.ts": "web",
  "certificate.ts": "tls",
  "email-headers.ts": "mail",
  "spf.ts": "mail",
  "carbon.ts": "page",
  "html-metadata.ts": "page",
  "tech.ts": "page",
};

const PREFIX = "probe-agent/analysis/";
const files = readSourceFiles().filter((file) => file.path.startsWith(PREFIX));

function roomOf(path: string): string | undefined {
  if (!path.startsWith(PREFIX)) return undefined;
  const [first = "", ...deeper] = path.slice(PREFIX.length).split("/");
  return deeper.length === 0 ? ENTRY_POINTS[first] : first;
}

describe("rooms of analysis", () => {
  it("every file is in a room or is an entry point", () => {
    const homeless = files.filter((file) => !ROOMS.includes(roomOf(file.path) ?? "")).map((file) => file.path);
    expect(homeless).toEqual([]);
    const paths = new Set(files.map((file) => file.path));
    expect(Object.keys(ENTRY_POINTS).filter((name) => !paths.has(`${PREFIX}${name}`))).toEqual([]);
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
