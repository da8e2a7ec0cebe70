import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { ROOT } from "#test/laws/source-files.ts";
import { runVantage, type Ran } from "#test/shared/client/command-line.ts";
import { openAccountDocuments, type AccountDocuments } from "#test/support/account-documents.ts";
import { startMonitorService, type MonitorService } from "#test/support/monitor-service.ts";

let service: MonitorService;
let documents: AccountDocuments;
let folder: string;
let key: string;

beforeAll(async () => {
  service = await startMonitorService();
  for (const region of ["eu-west", "us-east"]) service.attach(region, { capabilities: ["browser"] });
  documents = openAccountDocuments(service);
});
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "vantage-apply-"));
  ({ key } = await documents.createOwner());
  return () => rmSync(folder, { recursive: true, force: true });
});
afterAll(() => service?.stop());

const file = () => join(folder, "vantage.yaml");
const write = (text: string) => writeFileSync(file(), text);

const run = (words: readonly string[], more: Readonly<Record<string, string>> = {}, stdin = ""): Promise<Ran> =>
  runVantage(words, { VTG_API_KEY: key, VANTAGE_BASE_URL: service.url, ...more }, () => {}, { stdin });
const apply = (words: readonly string[] = ["--yes"], more: Readonly<Record<string, string>> = {}) =>
  run(["apply", "-f", file(), ...words], more);

const namesOf = async () => (await documents.exportOf(key)).monitors.map(({ name }) => name);

const TWO = `version: 2
owner: shop
monitors:
  - name: Shop
    url: https://example.com
    locations: [eu-west]
    tags: [web]
  - name: Backup
    check_type: heartbeat
    heartbeat: {period_seconds: 3600}
    depends_on: Shop
status_pages:
  - title: Example
    slug: SLUG
    monitors: [{monitor: Shop}]
maintenance:
  - title: Updates
    monitors: [Shop]
    starts_at: 2099-01-06T02:00:00Z
    duration_seconds: 3600
`;

describe("apply", () => {
  it("creates what a file has, and a second time changes nothing", async () => {
    write(TWO.replace("SLUG", "apply-twice"));
    const dry = await apply(["--dry-run"]);
    expect(dry).toMatchObject({ status: 0, complained: "" });
    expect(dry.said).toBe(
      "+ monitor Shop\n+ monitor Backup\n+ status page apply-twice\n+ maintenance Updates (2099-01-06T02:00:00Z)\n\n" +
        "Plan: 4 to create, 0 to change, 0 to delete, 0 unchanged.",
    );
    expect(await namesOf()).toEqual([]);

    expect(await apply()).toMatchObject({ status: 0, complained: "" });
    const made = await documents.exportOf(key);
    expect(made.monitors).toMatchObject([
      { name: "Shop", tags: ["web", "managed:shop"] },
      { name: "Backup", tags: ["managed:shop"], depends_on: "Shop" },
    ]);
    const before = (await documents.listOf(key)).map((row) => row["updated_at"]);
    expect(await apply()).toEqual({ status: 0, complained: "", said: "No change." });
    expect((await documents.listOf(key)).map((row) => row["updated_at"])).toEqual(before);
    expect(await documents.exportOf(key)).toEqual(made);
  });

  it("and an export keep all digits of a number", async () => {
    const withValue = (value: string) =>
      `version: 2\nowner: shop\nmonitors:\n  - name: Id\n    url: https://example.com\n    locations: [eu-west]\n` +
      `    json: {path: $.id, op: equals, value: ${value}}\n`;
    write(withValue("50000000014435121"));
    expect(await apply()).toMatchObject({ status: 0, complained: "" });
    expect(await apply()).toMatchObject({ status: 0, said: "No change." });
    const exported = await run(["export"]);
    expect(exported.said).toMatch(/^ +value: 50000000014435121$/m);
    write(withValue("50000000014435122"));
    expect((await apply()).said).toContain("json.value: 50000000014435121 -> 50000000014435122\n");
  });

  it("shows each property that changes with its old and new value, and leaves out what the file does not have", async () => {
    write(TWO.replace("SLUG", "apply-change"));
    await apply();
    write(
      TWO.replace("SLUG", "apply-change")
        .replace("tags: [web]", "tags: [web, eu]\n    interval_minutes: 10")
        .replace("3600}", "7200}")
        .replace("title: Example", "title: Shop"),
    );
    const changed = await apply();
    expect(changed).toMatchObject({ status: 0, complained: "" });
    expect(changed.said).toBe(
      [
        "~ monitor Shop",
        '    tags: ["web","managed:shop"] -> ["web","eu","managed:shop"]',
        "    interval_minutes: 5 -> 10",
        "~ monitor Backup",
        "    heartbeat.period_seconds: 3600 -> 7200",
        "~ status page apply-change",
        '    title: "Example" -> "Shop"',
        "",
        "Created 0, changed 3, deleted 0, unchanged 1.",
      ].join("\n"),
    );
    expect((await documents.exportOf(key)).monitors[0]).toMatchObject({
      interval_minutes: 10,
      url: "https://example.com",
    });
    expect((await apply()).said).toBe("No change.");
  });

  it("deletes with --prune, and only what an apply with the same owner created", async () => {
    write("version: 2\nmonitors:\n  - {name: By hand, url: https://example.com, locations: [eu-west]}\n");
    await apply();
    write(TWO.replace("SLUG", "apply-prune"));
    await apply();
    const other =
      "version: 2\nowner: other\nmonitors:\n  - {name: Other, url: https://example.com, locations: [eu-west]}\n";
    write(other);
    await apply();

    // One that was there before is changed, and stays.
    const adopted = "  - {name: By hand, url: https://example.com, interval_minutes: 30}\n";
    write(`version: 2\nowner: shop\nmonitors:\n${adopted}`);
    expect((await apply()).said).toContain("Created 0, changed 1, deleted 0, unchanged 0.");
    write("version: 2\nowner: shop\nmonitors: []\n");
    expect((await apply()).said).toBe("No change.");
    expect(await apply(["--prune", "--dry-run"])).toMatchObject({ status: 0 });
    expect(await namesOf()).toHaveLength(4);
    const pruned = await apply(["--prune", "--yes"]);
    expect(pruned.said).toBe("- monitor Shop\n- monitor Backup\n\nCreated 0, changed 0, deleted 2, unchanged 0.");
    expect(await namesOf()).toEqual(["By hand", "Other"]);
    write("version: 2\nmonitors: []\n");
    const ownerless = await apply(["--prune", "--yes"]);
    expect(ownerless).toMatchObject({ status: 2, said: "" });
    expect(ownerless.complained).toContain(`--prune needs an owner in ${file()}`);
  });

  it("takes secrets from the environment and from files, and never shows them", async () => {
    writeFileSync(join(folder, "body.txt"), "body-of-the-file\n");
    write(`version: 2
monitors:
  - name: Shop
    url: https://example.com
    locations: [eu-west]
    method: POST
    request_headers:
      Authorization: {env: SHOP_TOKEN}
      Accept: text/html
    body: {file: body.txt}
  - name: Second
    url: https://example.com
    locations: [eu-west]
    request_headers: {X-Token: {env: SECOND_TOKEN}}
  - name: Third
    url: https://example.com
    locations: [eu-west]
    request_headers: {X-Token: {env: SECOND_TOKEN}}
`);
    const first = { SHOP_TOKEN: "Bearer first-secret", SECOND_TOKEN: "second-secret" };
    const made = await apply(["--yes"], first);
    expect(made).toMatchObject({ status: 0, complained: "" });
    const read = await documents.read(key, "&secrets=include");
    expect(read.body.data["monitors"]).toMatchObject([
      { request_headers: { Authorization: "Bearer first-secret", Accept: "text/html" }, body: "body-of-the-file" },
      { request_headers: { "X-Token": "second-secret" } },
      { request_headers: { "X-Token": "second-secret" } },
    ]);
    expect((await apply(["--yes"], first)).said).toBe("No change.");

    const changed = await apply(["--yes"], { ...first, SHOP_TOKEN: "Bearer other-secret" });
    expect(changed.said).toBe(
      "~ monitor Shop\n    request_headers.Authorization: (secret) changed\n" +
        "< variable SHOP_TOKEN: request_headers.Authorization of monitor Shop\n" +
        "< file body.txt: body of monitor Shop\n" +
        "< variable SECOND_TOKEN: request_headers.X-Token of monitor Second, request_headers.X-Token of monitor Third\n\n" +
        "Created 0, changed 1, deleted 0, unchanged 2.",
    );
    const missing = await apply(["--yes"], { SHOP_TOKEN: "Bearer other-secret" });
    expect(missing).toMatchObject({ status: 2, said: "" });
    const needs = "request_headers.X-Token needs the environment variable SECOND_TOKEN, which is not set";
    expect(missing.complained).toBe(
      `vantage apply: 2 problems; nothing is changed\n${file()}:14:23: ${needs}\n${file()}:18:23: ${needs}`,
    );
  });

  it("names file, line, field and row of every problem, and changes nothing", async () => {
    write(`version: 2
monitors:
  - name: Shop
    url: https://example.com
    tags: [web, "Not A Tag"]
    intervall: 3
  - name: Records
    check_type: dns
    url: example.com
    locations: [eu-west]
    interval_minutes: 0
    depends_on: Nobody
  - name: Third
    url: https://example.com
    locations: [eu-west]
    request_headers:
      X.Token: "secret-value\\u0001"
`);
    const refused = await apply();
    expect(refused).toMatchObject({ status: 2, said: "" });
    expect(refused.complained.split("\n")).toEqual([
      "vantage apply: 3 problems; nothing is changed",
      expect.stringContaining(`${file()}:6:5: monitors.0 (Shop): intervall no such field; allowed: url, `),
      `${file()}:11:5: monitors.1 (Records): interval_minutes must be between 1 and 1440`,
      expect.stringContaining(`${file()}:17:7: monitors.2 (Third): request_headers.X.Token `),
    ]);
    write(
      readFileSync(file(), "utf8")
        .replace("    intervall: 3\n", "")
        .replace("minutes: 0", "minutes: 5")
        .replace("\\u0001", ""),
    );
    expect((await apply()).complained.split("\n")).toEqual([
      "vantage apply: 2 problems; nothing is changed",
      `${file()}:5:17: monitors.0 (Shop): tags.1 must be 1 to 50 of the characters a-z 0-9 : _ . / -`,
      `${file()}:11:5: monitors.1 (Records): depends_on no row of the document has this name`,
    ]);
    expect(refused.complained).not.toContain("secret-value");
    expect(await namesOf()).toEqual([]);
  });

  it("names every fault of the YAML by its line and column", async () => {
    write("version: 2\nmonitors:\n  - name: Shop\n    name: Again\n   url: x\n");
    const refused = await apply();
    expect(refused).toMatchObject({ status: 2, said: "" });
    expect(refused.complained).toContain(`\n${file()}:4:5: Map keys must be unique`);
    write("version: 3\nowner: A b\nmonitors: []\n");
    expect((await apply()).complained).toBe(
      `vantage apply: 2 problems; nothing is changed\n${file()}:1:1: version must be 2\n` +
        `${file()}:2:1: owner must be 1 to 42 of the characters a-z 0-9 : _ . / -`,
    );
    write("version: 2\nmonitors: []\nother: 1\n");
    expect((await apply()).complained).toContain(`${file()}:3:1: `);
  });

  it("takes the document of the guide", async () => {
    const guide = readFileSync(join(ROOT, "deploy/guide.md"), "utf8");
    const [, document = ""] = /^```yaml\n(version: 2\n[\s\S]*?)^```$/m.exec(guide) ?? [];
    write(document);
    writeFileSync(join(folder, "order.json"), "{}");
    expect(await apply(["--yes"], { SHOP_TOKEN: "secret", SLACK_URL: "https://hooks.slack.com/a" })).toMatchObject({
      status: 0,
      said:
        "+ monitor Shop\n+ monitor Backup\n+ webhook Chat\n" +
        "< variable SHOP_TOKEN: request_headers.Authorization of monitor Shop\n" +
        "< file order.json: body of monitor Shop\n< variable SLACK_URL: url of webhook Chat\n\n" +
        "Created 3, changed 0, deleted 0, unchanged 0.",
    });
  });

  it("without a terminal asks nothing, and needs --yes", async () => {
    write(TWO.replace("SLUG", "apply-ask"));
    const ran = await apply([]);
    expect(ran).toMatchObject({
      status: 2,
      said: "",
      complained: "vantage apply: there is no terminal to ask on: pass --yes, or --dry-run to see what would change",
    });
    expect(await namesOf()).toEqual([]);
    const json = JSON.stringify({ version: 2, monitors: [{ name: "Piped", check_type: "heartbeat" }] });
    expect(await run(["apply", "-f", "-", "--yes"], {}, json)).toMatchObject({ status: 0 });
    expect(await namesOf()).toEqual(["Piped"]);
  });
});

describe("on a terminal", () => {
  const answer = (typed: () => Promise<string | null>) =>
    runVantage(["apply", "-f", file()], { VTG_API_KEY: key, VANTAGE_BASE_URL: service.url }, () => {}, { ask: typed });

  it("apply shows the plan and does it after yes alone", async () => {
    write(TWO.replace("SLUG", "apply-terminal"));
    for (const typed of ["", "no", null]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const refused = await answer(() => Promise.resolve(typed));
      expect(refused).toMatchObject({ status: 130, said: "" });
      expect(refused.complained).toContain("+ monitor Shop");
      expect(refused.complained).toContain("vantage apply: nothing is changed");
    }
    expect(await namesOf()).toEqual([]);
    expect(await answer(() => Promise.resolve("y"))).toMatchObject({
      status: 0,
      said: "Created 4, changed 0, deleted 0, unchanged 0.",
    });
    expect(await namesOf()).toEqual(["Shop", "Backup"]);
  });

  it("apply refuses a plan if the account has changed since", async () => {
    write(TWO.replace("SLUG", "apply-race"));
    const late = await answer(async () => {
      const body = { name: "Meanwhile", check_type: "heartbeat" };
      expect((await service.call("/api/v4/monitors", { key, body })).status).toBe(201);
      return "yes";
    });
    expect(late).toMatchObject({ status: 2, said: "" });
    expect(late.complained).toContain("your account has changed since the plan: nothing is written; run it again");
    expect(await namesOf()).toEqual(["Meanwhile"]);
  });
});

describe("export", () => {
  it("of 1,000 monitors is unchanged, and of an edited file exactly the edited ones change", async () => {
    const names = Array.from({ length: 1_000 }, (_, index) => `Monitor ${index}`);
    const monitors = names.map((name) => ({
      name,
      url: `https://example.com/${name.slice(8)}`,
      locations: ["eu-west"],
    }));
    expect((await documents.send(key, { version: 2, monitors })).status).toBe(201);
    await run(["export", "-o", file()]);
    expect(readFileSync(file(), "utf8")).toMatch(
      /^version: 2\nmonitors:\n {2}- name: Monitor 0\n {4}check_type: http\n {4}url: /,
    );
    expect(await apply()).toEqual({ status: 0, complained: "", said: "No change." });
    expect(await run(["export"], { VTG_API_KEY: "" })).toMatchObject({ status: 3, said: "" });

    const before = new Map((await listAll()).map((row) => [row["name"], row["updated_at"]]));
    const edited = names.filter((_, index) => index % 10 === 3);
    const document = parse(readFileSync(file(), "utf8")) as {
      readonly monitors: { name: string; degraded_ms: number }[];
    };
    for (const row of document.monitors) if (edited.includes(row.name)) row.degraded_ms = 750;
    write(stringify(document));
    const changed = await apply();
    expect(changed).toMatchObject({ status: 0, complained: "" });
    const planned = edited.map((name) => `~ monitor ${name}\n    degraded_ms: null -> 750\n`).join("");
    expect(changed.said).toBe(`${planned}\nCreated 0, changed 100, deleted 0, unchanged 900.`);
    const after = await listAll();
    const written = after.filter((row) => row["updated_at"] !== before.get(row["name"]));
    expect(new Set(written.map((row) => row["name"]))).toEqual(new Set(edited));
    expect(after.filter((row) => row["degraded_ms"] === 750)).toHaveLength(100);
  });

  /** Every monitor of the account, in pages of 100. */
  async function listAll(): Promise<Readonly<Record<string, unknown>>[]> {
    const pages = Array.from({ length: 10 }, (_, page) => `/api/v4/monitors?per_page=100&page=${page + 1}`);
    const answers = await Promise.all(pages.map((path) => service.call(path, { key })));
    return answers.flatMap(({ body }) => body.data as Readonly<Record<string, unknown>>[]);
  }

  it("leaves the secrets of every kind out, and an apply keeps or replaces them", async () => {
    write(`version: 2
monitors:
  - {name: Mail, check_type: tcp, url: "example.com:25", locations: [eu-west], tcp: {send: {env: TCP}}}
  - {name: Chat, check_type: websocket, url: "wss://example.com", locations: [eu-west], websocket: {send: {env: CHAT}}}
  - name: Calls
    check_type: grpc
    url: example.com:443
    locations: [eu-west]
    grpc: {metadata: {a: {env: CALLS}, b: {env: MORE}}}
  - {name: All, check_type: composite, composite: {monitors: [Mail, Calls], down_when: all}}
`);
    const secrets = { TCP: "secret-tcp", CHAT: "secret-chat", CALLS: "secret-calls", MORE: "secret-more" };
    expect(await apply(["--yes"], secrets)).toMatchObject({ status: 0, complained: "" });
    expect((await apply(["--yes"], secrets)).said).toBe("No change.");
    const changed = await apply(["--yes"], { ...secrets, CHAT: "other-chat", MORE: "other-more" });
    expect(changed.said).toMatch(
      /^~ monitor Chat\n    websocket\.send: \(secret\) changed\n~ monitor Calls\n    grpc\.metadata\.b: \(secret\) changed\n</,
    );
    expect(changed.said).toMatch(/\nCreated 0, changed 2, deleted 0, unchanged 2\.$/);
    await run(["export", "-o", file()]);
    expect(readFileSync(file(), "utf8")).not.toMatch(/secret-|other-/);
    expect((await apply()).said).toBe("No change.");
    expect((await documents.read(key, "&secrets=include")).text).toContain("other-more");
  });

  it("writes YAML that an apply finds unchanged, in the same order each time", async () => {
    write(TWO.replace("SLUG", "apply-export"));
    await apply();
    const shown = await run(["export"]);
    expect(await run(["export", "-o", file()])).toMatchObject({ status: 0, said: "", complained: "" });
    expect(readFileSync(file(), "utf8")).toBe(`${shown.said}\n`);
    expect(parse(shown.said)).toEqual({ ...(await documents.exportOf(key)), webhooks: [] });
    expect((await apply()).said).toBe("No change.");
    const away = await run(["export", "-o", join(folder, "no", "file")]);
    expect(away).toMatchObject({ status: 2, said: "" });
  });
});
