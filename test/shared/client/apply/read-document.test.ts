import { describe, expect, it } from "vitest";
import { locateProblem, readDocument, type ReadDocument } from "#shared/client/apply/read-document.ts";

const SOURCES = {
  environment: { TOKEN: "token-of-the-environment", EMPTY: "" },
  readFile: (file: string) =>
    file === "key.txt"
      ? { ok: true as const, text: "key-of-the-file\r\n" }
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

  it("with aliases of aliases ends early", () => {
    const lines = Array.from(
      { length: 12 },
      (_, index) => `a${index + 1}: &a${index + 1} [${`*a${index},`.repeat(9)}]`,
    );
    expect(problemsOf(`version: 2\na0: &a0 [1]\n${lines.join("\n")}\n`)[0]).toContain("Excessive alias count");
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
