import { describe, expect, it } from "vitest";
import { locateProblem, readDocument, type ReadDocument } from "#shared/client/apply/read-document.ts";

const SOURCES = {
  environment: { TOKEN: "token-of-the-environment", EMPTY: "" },
  readFile: (file: string) =>
    file === "key.txt"
      ? { ok: true as const, text: "key-of-the-file\r\n", name: file }
      : { ok: false as const, why: `needs ${file}` },
};

function read(text: string): ReadDocument {
  const result = readDocument(text, SOURCES);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.read;
}

/** Problems of a text as `line:column message`. */
function problemsOf(text: string): readonly string[] {
  const result = readDocument(text, SOURCES);
  if (result.ok) return [];
  return result.problems.map(({ place, message }) =>
    place === null ? message : `${place.line}:${place.column} ${message}`,
  );
}

describe("a document", () => {
  it("is YAML 1.2, in which rows can share settings, or JSON", () => {
    const shared = `version: 2
monitors:
  - &base {name: a, retries: 1, request_headers: {A: {env: TOKEN}}, keyword: yes}
  - {<<: *base, name: b}
`;
    const row = { retries: 1, request_headers: { A: "token-of-the-environment" }, keyword: "yes" };
    const { document, secrets } = read(shared);
    expect(document).toEqual({
      version: 2,
      monitors: [
        { name: "a", ...row },
        { ...row, name: "b" },
      ],
    });
    expect(secrets).toEqual(["token-of-the-environment"]);
    const json = { version: 2, monitors: [{ name: "a", url: "https://example.com" }] };
    expect(read(JSON.stringify(json, null, "\t")).document).toEqual(json);
    const many = "  - {<<: *base, name: b}\n".repeat(5_000);
    expect(read(`${shared}${many}`).document["monitors"]).toHaveLength(5_002);
  });

  it("leaves out keys of the user's own, such as those of anchors", () => {
    const { document } = read(`version: 2
x-base: &base {url: https://example.com, tags: [shop]}
monitors:
  - {<<: *base, name: a}
`);
    expect(document).toEqual({ version: 2, monitors: [{ url: "https://example.com", tags: ["shop"], name: "a" }] });
  });

  it("resolves secrets where monitors have them, and nowhere else", () => {
    const { document, secrets } = read(`version: 2
owner: me
monitors:
  - name: a
    body: {file: key.txt}
    grpc: {metadata: {a: {env: TOKEN}}}
    tcp: {send: {env: TOKEN}}
    url: {env: TOKEN}
`);
    expect(document["monitors"]).toEqual([
      {
        name: "a",
        body: "key-of-the-file",
        grpc: { metadata: { a: "token-of-the-environment" } },
        tcp: { send: "token-of-the-environment" },
        url: { env: "TOKEN" },
      },
    ]);
    expect(secrets.toSorted()).toEqual(["key-of-the-file", "token-of-the-environment"]);
  });

  it("names every secret that it cannot resolve", () => {
    const text = `version: 2
monitors:
  - name: a
    request_headers:
      A: {env: EMPTY}
      B: {env: TOKEN, file: key.txt}
    body: {file: other.txt}
`;
    expect(problemsOf(text)).toEqual([
      "5:7 request_headers.A needs the environment variable EMPTY, which is not set",
      "6:7 request_headers.B must be a text, {env: NAME} or {file: path}",
      "7:5 body needs other.txt",
    ]);
  });

  it.each<readonly [what: string, text: string, problem: string]>([
    ["an empty file", "", "must be an object with version and monitors"],
    ["a list", "- 1", "must be an object with version and monitors"],
    [
      "two documents",
      "version: 2\n---\nversion: 2\n",
      "2:1 Source contains multiple documents; please use YAML.parseAllDocuments()",
    ],
    ["an unknown alias", "version: 2\nmonitors: *none\n", "2:11 no anchor before it is &none"],
    [
      "a number that JSON does not have",
      "version: 2\nmonitors:\n  - retries: .inf\n",
      "3:5 monitors.0.retries must be a finite number",
    ],
    ["half a character", 'version: 2\nx: "\\uD800"\n', "2:1 x must be Unicode text without lone surrogates"],
    ["a tab", "version: 2\nmonitors:\n\t- name: a\n", "3:1 Tabs are not allowed as indentation"],
  ])("that is %s is refused at its place", (_what, text, problem) => {
    expect(problemsOf(text)[0]).toContain(problem);
  });

  it.each<readonly [what: string, text: string, problem: string]>([
    ["in itself", "version: 2\nmonitors: &m [*m]\n", "2:15 is inside of what &m names"],
    ["that takes over itself", "version: 2\na: &m {b: {<<: *m}}\n", "2:16 is inside of what &m names"],
    [
      "of aliases",
      `a0: &a0 [1]\n${Array.from({ length: 30 }, (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at},`.repeat(9)}]`).join("\n")}`,
      "1:1 with its aliases resolved, a document has at most 8 MB",
    ],
    [
      "of a long text",
      `a: &a ${"x".repeat(1_000_000)}\nb: [*a,*a,*a,*a,*a,*a,*a,*a]\n`,
      "1:1 with its aliases resolved",
    ],
    [
      "beside thousands of others",
      `a:\n${Array.from({ length: 30_000 }, (_, at) => `  - &a${at} x\n  - *a${at}\n`).join("")}`,
      "10002:5 a document has at most 10000 anchors and aliases",
    ],
  ])("with an alias %s is refused at its place", (_what, text, problem) => {
    expect(problemsOf(text)).toEqual([expect.stringContaining(problem)]);
  });

  it.each<readonly [what: string, text: string]>([
    ["lists on a line", "[".repeat(100_000)],
    ["lists", "- ".repeat(100_000)],
    ["objects on a line", "{a: ".repeat(100_000)],
    ["objects", Array.from({ length: 1_000 }, (_, at) => `${" ".repeat(at)}a:\n`).join("")],
    ["keys", "? ".repeat(100_000)],
  ])("with %s in each other is refused", (_what, text) => {
    expect(problemsOf(text)).toEqual([
      expect.stringMatching(/^\d+:\d+ lists and objects can be in each other up to 100/),
    ]);
    expect(problemsOf(`version: 2\na: ${"[".repeat(90)}${"]".repeat(90)}\n`)).toEqual([]);
  });

  it("that is too long is refused, and so are values that are too long together", () => {
    expect(problemsOf("#".repeat(8 * 1024 * 1024 + 1))).toEqual(["1:1 a document has at most 8 MB"]);
    const readFile = (name: string) => ({ ok: true as const, text: "x".repeat(1_000_000), name });
    const rows = (count: number) => `version: 2\nmonitors:\n${"  - {name: a, body: {file: a}}\n".repeat(count)}`;
    expect(readDocument(rows(8), { environment: {}, readFile })).toMatchObject({ ok: true });
    expect(readDocument(rows(9), { environment: {}, readFile })).toMatchObject({
      problems: [
        {
          place: { line: 11 },
          message: "body makes the values of variables and files larger than 8 MB together",
        },
      ],
    });
  });

  it("has each name of an object once, and names its first problems", () => {
    expect(problemsOf("version: 2\na: {b: 1, c: 2, b: 3}\n")).toEqual(["2:17 Map keys must be unique"]);
    expect(problemsOf(`version: 2\n${"a: 1\n".repeat(1_000)}`)).toHaveLength(100);
    expect(problemsOf(`version: 2\nmonitors: [${".inf,".repeat(1_000)}]\n`)).toHaveLength(100);
  });

  it("says what it reads, and what for", () => {
    const { sources } = read(`version: 2
monitors:
  - &a {name: a, body: {file: key.txt}, request_headers: {A: {env: TOKEN}}}
  - {<<: *a, name: b}
webhooks: [{name: c, url: {env: TOKEN}}]
`);
    const uses = (field: string, ...titles: readonly string[]) =>
      titles.map((title) => ({ list: title === "c" ? "webhooks" : "monitors", title, field }));
    expect(sources).toEqual([
      {
        kind: "variable",
        name: "TOKEN",
        uses: [...uses("request_headers.A", "a", "b"), ...uses("url", "c")],
      },
      { kind: "file", name: "key.txt", uses: uses("body", "a", "b") },
    ]);
    expect(problemsOf("version: 2\nmonitors: [{name: a, body: {env: toString}}]\n")).toEqual([
      "2:22 body needs the environment variable toString, which is not set",
    ]);
  });
});

describe("a problem of the service", () => {
  const document = read(`version: 2
monitors:
  - name: Shop
    request_headers:
      X.Y.Z: a
    tags: [a, B]
maintenance:
  - title: T
    monitors: [Shop]
`);
  it.each<readonly [row: string | null, field: string | null, found: string]>([
    ["monitors.0", null, "3:5 monitors.0 (Shop): message"],
    ["monitors.0", "request_headers.X.Y.Z", "5:7 monitors.0 (Shop): request_headers.X.Y.Z message"],
    ["monitors.0", "tags.1", "6:15 monitors.0 (Shop): tags.1 message"],
    ["monitors.0", "url", "3:5 monitors.0 (Shop): url message"],
    ["maintenance.0", "monitors.0", "9:16 maintenance.0: monitors.0 message"],
    ["monitors.7", "url", "2:1 monitors.7: url message"],
    [null, "monitors", "2:1 monitors message"],
  ])("with %s, %s is at its line", (row, field, found) => {
    const { place, message } = locateProblem(document, { row, field, message: "message" });
    expect(`${place?.line}:${place?.column} ${message}`).toBe(found);
  });
});
