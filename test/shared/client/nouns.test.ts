import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { NOUNS } from "#shared/client/nouns/nouns.ts";
import { LAUNCHER_PATH } from "#shared/client/programs.ts";
import { runVantage, type Ran } from "#test/shared/client/command-line.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";

let plane: TestControlPlane;
let environment: Readonly<Record<string, string>>;
const folder = mkdtempSync(join(tmpdir(), "vantage-nouns-"));

beforeAll(async () => {
  plane = await startControlPlane();
});
// An account for each test: its lists are empty.
beforeEach(async () => {
  environment = { VANTAGE_BASE_URL: plane.url, VTG_API_KEY: await plane.createKey("captain") };
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await plane?.stop();
});

const run = (words: readonly string[], stdin = "") => runVantage(words, environment, () => {}, { stdin });

/** Runs a command that must succeed; the JSON that it printed. */
async function json<T>(words: readonly string[], stdin = ""): Promise<T> {
  const ran = await run(words, stdin);
  expect(ran, words.join(" ")).toMatchObject({ status: 0, complained: "" });
  return JSON.parse(ran.said) as T;
}

interface Row {
  readonly id: number;
  readonly name: string;
}

const create = (name: string, ...more: readonly string[]) =>
  json<Row>(["monitors", "create", "--set", `name=${name}`, "--set", "check_type=heartbeat", ...more]);

describe("the table of resources", () => {
  it("has the columns, filters and methods of the API document", async () => {
    const document = (await plane.call("/openapi.json")).body as unknown as {
      readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
      readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
    };
    const schemas = JSON.stringify(document.components.schemas);
    for (const { name, path, columns, filters, edit, create: creates, remove } of NOUNS) {
      const operations = document.paths[path] ?? {};
      expect(operations, name).toHaveProperty("get");
      // A batch is created by a command of its own.
      expect([operations["post"] !== undefined && name !== "batch", operations["put"] !== undefined], name).toEqual([
        creates,
        edit,
      ]);
      expect(operations["delete"] !== undefined, name).toBe(remove !== null);
      const answer = JSON.stringify(operations["get"]?.responses) + schemas;
      for (const column of columns ?? []) expect(answer, `${name}: ${column}`).toContain(`"${column}":`);
      for (const filter of filters) {
        const parameter = operations["get"]?.parameters.find((one) => one.name === filter.name);
        expect(parameter, `${name}: ${filter.name}`).toBeDefined();
        if (filter.choices !== null) expect(parameter?.schema.enum, name).toEqual(filter.choices);
      }
    }
  });

  interface Operation {
    readonly parameters: readonly { readonly name: string; readonly schema: { readonly enum?: readonly string[] } }[];
    readonly responses: unknown;
  }
});

describe("create, edit and delete", () => {
  it("write what the fields say, and the service converts them by its schema", async () => {
    const plain = ["interval_minutes=60", "notify_email=true", "repeat_minutes=null"];
    const fields = [...plain, "heartbeat[grace_seconds]=90", "tags[]=env:prod"];
    const made = await create("7", ...fields.flatMap((text) => ["--set", text]));
    expect(made).toMatchObject({
      name: "7",
      interval_minutes: 60,
      notify_email: true,
      repeat_minutes: null,
      heartbeat: { grace_seconds: 90 },
      tags: ["env:prod"],
    });
    const id = String(made.id);
    const changed = await json(["monitors", "edit", id, "--set", "is_active=false"]);
    expect(changed).toMatchObject({ id: made.id, is_active: false });
    expect(await json(["monitors", "show", id])).toMatchObject({ id: made.id, name: "7", checks: [] });
    expect(await json(["monitors", "delete", id, "--yes"])).toEqual({ id: made.id, deleted: true });
    const gone = await run(["monitors", "show", id]);
    expect(gone).toMatchObject({ status: 2, said: "" });
    expect(gone.complained).toMatch(/^vantage monitors show: not_found: /);
  });

  it("take fields from a file or from standard input, and --set is stronger", async () => {
    const file = join(folder, "hook.json");
    writeFileSync(file, JSON.stringify({ url: "https://hooks.example.com/a", name: "file" }));
    const made = await json<Row>(["webhooks", "create", "--file", file, "--set", "events[]=monitor.down"]);
    expect(made).toMatchObject({ name: "file", events: ["monitor.down"] });
    expect(made).toHaveProperty("signing_secret");
    const edited = await json(["webhooks", "edit", String(made.id), "-f", "-"], '{"name": "stdin"}');
    expect(edited).toMatchObject({ name: "stdin" });
    expect(await json(["webhooks", "show", String(made.id)])).toMatchObject({ name: "stdin" });
    expect((await run(["webhooks", "show", "999999"])).complained).toBe(
      "vantage webhooks show: not_found: No webhook has the id 999999.",
    );
    writeFileSync(file, "[1]");
    expect((await run(["webhooks", "create", "-f", file])).complained).toContain("must contain a JSON object");
    expect((await run(["webhooks", "create", "-f", "/nonexistent/x"])).complained).toContain(
      "/nonexistent/x cannot be read",
    );
    expect((await run(["webhooks", "create"])).complained).toBe(
      "vantage webhooks create: no fields: give --set field=value or --file",
    );
  });

  it("work for incidents, maintenance and status pages too", async () => {
    const { id } = await create("Shop");
    const page = await json<Row>(["status", "create", "--set", "title=Shop", "--set", `slug=shop-${id}`]);
    expect(await json(["status", "edit", String(page.id), "--set", "title=Shops"])).toMatchObject({ title: "Shops" });
    const fields = ["--set", "title=Slow", "--set", "text=We look into it.", "--set", `monitor_ids[]=${id}`];
    const incident = await json<Row>(["incidents", "create", ...fields]);
    await json(["incidents", "edit", String(incident.id), "--set", "acknowledged=true"]);
    expect(await json(["incidents", "list", "--status", "open"])).toEqual([expect.objectContaining({ title: "Slow" })]);
    const times = ["--set", "starts_at=2040-01-06T02:00:00Z", "--set", "ends_at=2040-01-06T03:00:00Z"];
    const window = await json<Row>([
      "maintenance",
      "create",
      "--set",
      "title=Updates",
      `--set=monitor_ids[]=${id}`,
      ...times,
    ]);
    expect(await json(["maintenance", "list", "--status", "scheduled", "--monitor-id", String(id)])).toHaveLength(1);
    expect(await json(["maintenance", "delete", String(window.id), "--yes"])).toMatchObject({ deleted: true });
  });

  it("say which field is wrong and what is allowed", async () => {
    const wrong = await run(["monitors", "create", "--set", "check_type=carrier-pigeon", "--set", "url=example.com"]);
    expect(wrong).toMatchObject({ status: 2, said: "" });
    expect(wrong.complained).toMatch(/^vantage monitors create: missing_parameter: check_type: must be one of http, /);
    const choice = await run(["monitors", "list", "--status", "sideways"]);
    expect(choice.complained).toContain("Allowed choices are up, down, unknown.");
    const id = await run(["monitors", "edit", "first", "--set", "name=x"]);
    expect(id).toMatchObject({ status: 2, said: "" });
  });

  it("without a terminal, delete needs --yes, and asks nothing of the service", async () => {
    const { id } = await create("kept");
    expect(await run(["monitors", "delete", String(id)])).toMatchObject({
      status: 2,
      said: "",
      complained: "vantage monitors delete: there is no terminal to ask whether to delete it: give --yes",
    });
    expect(await json(["monitors", "list"])).toHaveLength(1);
  });
});

describe("edit of several monitors", () => {
  interface Edited {
    readonly dry_run: boolean;
    readonly changed: number;
    readonly monitors: readonly { readonly id: number; readonly changed: readonly { readonly field: string }[] }[];
  }

  const edit = (...words: readonly string[]) => json<Edited>(["monitors", "edit", ...words]);
  const retry = ["--set", "repeat_minutes=60"];

  it("changes those with the ids, or with the tag, in one request", async () => {
    const [one, two] = [await create("a", "--set", "tags[]=night"), await create("b", "--set", "tags[]=night")];
    const other = await create("c");
    const ids = [String(two.id), String(one.id)];
    const tried = await edit(...ids, ...retry, "--dry-run");
    expect(tried).toMatchObject({ dry_run: true, changed: 2, monitors: [{ id: two.id }, { id: one.id }] });
    expect(await json(["monitors", "show", String(one.id)])).toMatchObject({ repeat_minutes: null });
    expect(await edit(...ids, ...retry, "--yes")).toMatchObject({ dry_run: false, changed: 2 });
    const tagged = await edit("--tag", "night", "--set", "tags_add[]=late", "--set", "is_active=false", "--yes");
    expect(tagged.monitors.map(({ changed }) => changed.map(({ field }) => field))).toEqual([
      ["is_active", "tags"],
      ["is_active", "tags"],
    ]);
    expect(await json(["monitors", "list", "--tag", "late"])).toHaveLength(2);
    expect(await json(["monitors", "show", String(other.id)])).toMatchObject({ is_active: true, repeat_minutes: null });
  });

  it("says what is wrong, every problem on a line, and changes nothing", async () => {
    const ids = [String((await create("a")).id), String((await create("b")).id)];
    const wrong = await run(["monitors", "edit", ...ids, "--set", "keyword=x", "--yes"]);
    expect(wrong).toMatchObject({ status: 2, said: "" });
    const message = "keyword: is only for check_type keyword; the check_type of this monitor is heartbeat";
    const begin = "vantage monitors edit: ";
    expect(wrong.complained.split("\n")).toEqual([
      ...ids.map((id) => `${begin}${id}: ${message}`),
      `${begin}missing_parameter: set.${message} (monitor ${ids[0]}, the first of those in error.problems).`,
    ]);
    const lineOf = async (...words: readonly string[]) => (await run(["monitors", "edit", ...words])).complained;
    expect(await lineOf(...ids, ...retry)).toBe(`${begin}there is no terminal to ask on: give --yes, or --dry-run`);
    expect(await lineOf(...retry, "--yes")).toBe(`${begin}no monitor: give ids, or --tag`);
    expect(await lineOf(...ids, "--tag", "x", ...retry, "--yes")).toBe(`${begin}give ids or --tag, not both`);
    expect(await lineOf("--tag", "nobody", ...retry, "--yes")).toBe(`${begin}no monitor has the tag nobody`);
    expect(await lineOf("1", "two", ...retry, "--yes")).toBe(`${begin}an id is a whole number, not two`);
    expect(await lineOf(ids[0] ?? "", "999999999", ...retry, "--yes")).toContain("has the id 999999999.");
  });
});

describe("list", () => {
  it("reads as many rows as the limit says, newest first, over pages", async () => {
    for (const name of ["a", "b", "c"]) await create(name);
    const names = async (...words: readonly string[]) =>
      (await json<readonly Row[]>(["monitors", "list", ...words])).map(({ name }) => name);
    expect(await names()).toEqual(["c", "b", "a"]);
    expect(await names("--limit", "2")).toEqual(["c", "b"]);
    expect(await names("--status", "up")).toEqual([]);
    const wrong = await run(["monitors", "list", "--limit", "0"]);
    expect(wrong.complained).toContain("It must be a whole number from 1 to 10000.");
  });

  it("with --watch in a pipe prints each new and each changed row as a line of JSON", async () => {
    const { id } = await create("first");
    const lines: string[] = [];
    const words = ["monitors", "list", "--watch", "--every", "1"];
    const env = { PATH: process.env["PATH"], ...environment };
    const watching = spawn(LAUNCHER_PATH, words, { env, stdio: ["ignore", "pipe", "ignore"] });
    watching.stdout.on("data", (chunk) => lines.push(...String(chunk).trim().split("\n")));
    const ended = new Promise((resolve) => watching.once("close", resolve));
    const shown = () => lines.map((line) => (JSON.parse(line) as Row).name);
    await expect.poll(shown).toEqual(["first"]);
    await json(["monitors", "edit", String(id), "--set", "name=renamed"]);
    await expect.poll(shown).toEqual(["first", "renamed"]);
    await create("second");
    await expect.poll(shown).toEqual(["first", "renamed", "second"]);
    watching.kill("SIGINT");
    expect(await ended).toBe(130);
  });
});

describe("on a terminal", () => {
  const hasScript = spawnSync("script", ["--version"]).status === 0;

  /** Runs a command on a terminal, answering its question if it has one. */
  async function onTerminal(
    words: readonly string[],
    answer: readonly [question: string, text: string] | null,
  ): Promise<Ran> {
    const line = `${LAUNCHER_PATH} ${words.join(" ")}; echo "status $?"`;
    const env = { PATH: process.env["PATH"], ...environment };
    const terminal = spawn("script", ["-qec", line, "/dev/null"], { env, stdio: "pipe" });
    let shown = "";
    terminal.stdout.on("data", (chunk) => (shown += String(chunk)));
    if (answer !== null) {
      await expect.poll(() => shown).toContain(answer[0]);
      terminal.stdin.write(answer[1]);
    }
    await expect.poll(() => shown).toMatch(/status \d/);
    terminal.stdin.end();
    const text = shown.replaceAll("\r", "");
    return { said: text, complained: "", status: Number(/status (\d+)/.exec(text)?.[1]) };
  }

  it.skipIf(!hasScript)("a list is a table, and one resource is lines", async () => {
    const { id } = await create("Nightly");
    const list = await onTerminal(["monitors", "list"], null);
    expect(list.said).toMatch(/^ID +NAME +STATUS +CHECK_TYPE +URL +INTERVAL_MINUTES +LAST_CHECKED_AT$/m);
    expect(list.said).toMatch(new RegExp(`^${id} +Nightly +unknown +heartbeat +`, "m"));
    expect((await onTerminal(["monitors", "show", String(id)], null)).said).toMatch(/^name: Nightly$/m);
    expect((await onTerminal(["monitors", "list", "--json"], null)).said).toContain('"name": "Nightly"');
  });

  it.skipIf(!hasScript)("edit of several shows what changes and asks, and only yes changes them", async () => {
    const [one, two] = [await create("First"), await create("Second", "--set", "interval_minutes=60")];
    const words = ["monitors", "edit", String(one.id), String(two.id), "--set", "interval_minutes=60"];
    const no = await onTerminal(words, ["Change them? [y/N] ", "\r"]);
    expect(no).toMatchObject({ status: 2, said: expect.stringContaining("nothing is changed") as string });
    expect(no.said).toContain(`monitor ${one.id} First\n`);
    expect(no.said).toContain("    interval_minutes: 5 -> 60\n1 to change, 1 unchanged\n");
    expect(await json(["monitors", "show", String(one.id)])).toMatchObject({ interval_minutes: 5 });
    const yes = await onTerminal(words, ["Change them? [y/N] ", "y\r"]);
    expect(yes).toMatchObject({ status: 0, said: expect.stringContaining("1 changed, 1 unchanged") as string });
    expect(await json(["monitors", "show", String(one.id)])).toMatchObject({ interval_minutes: 60 });
  });

  it.skipIf(!hasScript)("delete asks, and only yes deletes", async () => {
    const { id } = await create("Nightly");
    const question = `Delete monitor ${id} (Nightly)? [y/N] `;
    const words = ["monitors", "delete", String(id)];
    const no = await onTerminal(words, [question, "\r"]);
    expect(no).toMatchObject({ status: 2, said: expect.stringContaining("nothing is changed") as string });
    expect(await json(["monitors", "list"])).toHaveLength(1);
    expect(await onTerminal(words, [question, "y\r"])).toMatchObject({ status: 0 });
    expect(await json(["monitors", "list"])).toEqual([]);
  });
});
