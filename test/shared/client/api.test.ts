import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readFields } from "#shared/client/api-fields.ts";
import { urlOf } from "#shared/client/commands/api.ts";
import { LAUNCHER_PATH } from "#shared/client/programs.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { openShell } from "#test/support/shell.ts";
import { runVantage } from "#test/shared/client/command-line.ts";

let plane: TestControlPlane;
let environment: Readonly<Record<string, string>>;
const folder = mkdtempSync(join(tmpdir(), "vantage-api-"));

beforeAll(async () => {
  plane = await startControlPlane();
  environment = { VANTAGE_BASE_URL: plane.url, VTG_API_KEY: await plane.createKey("captain") };
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await plane?.stop();
});

const api = (words: readonly string[], stdin = "") => runVantage(["api", ...words], environment, () => {}, { stdin });

/** Runs it and returns the body that it printed; it must succeed. */
async function bodyOf(words: readonly string[], stdin = ""): Promise<{ data: never; meta: never }> {
  const ran = await api(words, stdin);
  expect(ran, words.join(" ")).toMatchObject({ status: 0, complained: "" });
  return JSON.parse(ran.said) as { data: never; meta: never };
}

describe("a request", () => {
  it("is a GET without fields and a POST with them, with values of JSON by -F", async () => {
    const typed = ["-F", "heartbeat[period_seconds]=3600", "-F", "notify_email=true", "-F", "tags[]=env:prod"];
    const texts = ["-f", "name=Backup", "-f", "check_type=heartbeat", "-f", "tags[]=7"];
    const made = await bodyOf(["v4/monitors", ...typed, ...texts]);
    expect(made.data).toMatchObject({
      name: "Backup",
      check_type: "heartbeat",
      heartbeat: { period_seconds: 3_600 },
      notify_email: true,
      tags: ["env:prod", "7"],
    });
    const { id } = made.data as { id: number };
    expect((await bodyOf([`/api/v4/monitors?id=${id}`])).data).toMatchObject({ id, name: "Backup" });
    expect((await bodyOf(["-X", "GET", "monitors", "-F", `id=${id}`])).data).toMatchObject({ id });
    const changed = await bodyOf(["-X", "put", `v4/monitors?id=${id}`, "-f", "name=Nightly"]);
    expect(changed.data).toMatchObject({ name: "Nightly" });
    expect((await bodyOf(["-X", "DELETE", `v4/monitors?id=${id}`])).data).toEqual({ id, deleted: true });
  });

  it("has its body from a file or from standard input, with fields in the query", async () => {
    const file = join(folder, "webhook.json");
    writeFileSync(file, JSON.stringify({ url: "https://hooks.example.com/a", name: "first" }));
    const made = (await bodyOf(["v4/webhooks", "--input", file])).data as { readonly id: number };
    expect(made).toMatchObject({ name: "first" });
    const words = ["-X", "PUT", "v4/webhooks", "--input", "-", "-F", `id=${made.id}`];
    expect((await bodyOf(words, '{"name": "second"}')).data).toMatchObject({ id: made.id, name: "second" });
    const missing = await api(["v4/webhooks", "--input", "/nonexistent/file"]);
    expect(missing).toMatchObject({ status: 2, said: "", complained: "vantage api: /nonexistent/file cannot be read" });
  });

  it("has the header fields that are given, in place of the stored key too", async () => {
    const operator = `Authorization: Bearer ${plane.app.adminToken}`;
    const listed = await bodyOf(["/api/admin/accounts", "-H", operator]);
    expect(listed.data).toEqual([expect.objectContaining({ plan: "captain" })]);
    const other = await api(["v4/account", "-H", "X-API-Key: vtg_other"]);
    expect(other).toMatchObject({ status: 3, said: "" });
    const keyless = await runVantage(["api", "v4/account"], { VANTAGE_BASE_URL: plane.url });
    expect(keyless).toMatchObject({ status: 3, said: "" });
  });
});

describe("an answer", () => {
  it("that refuses is one line on standard error, with the field and what is allowed, and a status by its kind", async () => {
    const wrong = await api(["v4/monitors", "-F", "interval_minutes=0", "-f", "url=https://example.com"]);
    expect(wrong).toMatchObject({ status: 2, said: "" });
    expect(wrong.complained).toMatch(/^vantage api: missing_parameter: interval_minutes/);
    expect(await api(["v4/nothing"])).toMatchObject({ status: 2, said: "" });
    // No agent is attached.
    const none = await api(["v4/check", "-f", "url=https://example.com"]);
    expect(none).toMatchObject({ status: 4, said: "" });
    const away = await runVantage(["api", "v4/account"], { ...environment, VANTAGE_BASE_URL: "http://127.0.0.1:9" });
    expect(away).toMatchObject({ status: 5, said: "" });
  });

  it("of several pages is one list with --paginate", async () => {
    const names = Array.from({ length: 5 }, (_, index) => `page ${index}`);
    for (const name of names) await bodyOf(["v4/monitors", "-f", `name=${name}`, "-f", "check_type=heartbeat"]);
    const all = await bodyOf(["v4/monitors?per_page=2", "--paginate"]);
    expect((all.data as readonly { readonly name: string }[]).map(({ name }) => name)).toEqual(names.toReversed());
    const single = await api(["v4/account", "--paginate"]);
    expect(single.complained).toBe("vantage api: --paginate needs the path of a list");
    expect((await api(["v4/monitors", "-f", "a=b", "--paginate"])).complained).toContain(
      "--paginate needs the method GET",
    );
  });

  it("is indented on a terminal and unchanged in a pipe", async () => {
    const shell = openShell("/", environment);
    expect((await shell.run(`${LAUNCHER_PATH} api /healthz`)).stdout).toBe('{"status":"ok"}');
    const shown = await shell.run(`script -qec '${LAUNCHER_PATH} api /healthz' /dev/null </dev/null`);
    const hasScript = spawnSync("script", ["--version"]).status === 0;
    if (hasScript) expect(shown.stdout.replaceAll("\r", "")).toContain('{\n  "status": "ok"\n}');
  });

  it.runIf(existsSync("/dev/full"))(
    "that a full disk cannot take is said so, and not blamed on the service",
    async () => {
      const shell = openShell("/", environment);
      for (const words of ["api /healthz", "monitors list"]) {
        const { stderr, status } = await shell.run(`${LAUNCHER_PATH} ${words} > /dev/full`);
        expect(stderr).toContain("the output cannot be written (ENOSPC): it is not complete");
        expect(stderr).not.toContain("no control plane answers");
        expect(status).toBe(5);
      }
    },
  );

  it("that is a stream is passed on while it arrives", async () => {
    const server = createServer((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("event: progress\ndata: 1\n\n");
      server.once("seen", () => response.end("event: done\ndata: 2\n\n"));
    });
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve);
    });
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const onWritten = (text: string) => void (text.includes("progress") && server.emit("seen"));
    const ran = await runVantage(["api", "v4/ping"], { ...environment, VANTAGE_BASE_URL: base }, onWritten);
    server.close();
    expect(ran.said).toContain("event: done");
  });
});

describe("paths", () => {
  it.each([
    ["v4/monitors", "/api/v4/monitors"],
    ["/api/v4/monitors?id=1", "/api/v4/monitors?id=1"],
    ["api/v3/check", "/api/v3/check"],
    ["/v4/tools", "/api/v4/tools"],
    ["monitors", "/api/v4/monitors"],
    ["/openapi.json", "/openapi.json"],
    ["//evil.example/x", "/evil.example/x"],
  ])("%s is %s of the service", (path, expected) => {
    expect(urlOf("https://vantage.example", path)?.href).toBe(`https://vantage.example${expected}`);
  });

  it("of an answer can begin with the base path", () => {
    const base = "https://vantage.example/vantage";
    for (const path of ["/vantage/api/v4/batch", "/api/v4/batch", "v4/batch", "batch"])
      expect(urlOf(base, path)?.href).toBe(`${base}/api/v4/batch`);
  });

  it("never name another host, which would get the key", () => {
    for (const path of ["https://evil.example/", "HTTP://evil.example", "file:///etc/passwd"]) {
      expect(urlOf("https://vantage.example", path), path).toBeNull();
    }
    for (const path of ["@evil.example", "\\\\evil.example", "../..//evil.example", "\t//evil.example"]) {
      expect(urlOf("https://vantage.example", path)?.host ?? "vantage.example", path).toBe("vantage.example");
    }
  });
});

describe("fields", () => {
  const read = (...texts: readonly string[]) =>
    readFields(
      texts.map((text) => ({ text, as: "typed" })),
      (path) => (path === "there" ? "content" : null),
    );

  it("become values, lists and objects", () => {
    expect(
      read("a=1", "b=-2.5", "c=true", "d=null", "e=01", "f=@there", "g[h][i]=x", "g[h][j]=", "k[]", "l[]=1", "l[]=2"),
    ).toEqual({
      ok: true,
      value: { a: 1, b: -2.5, c: true, d: null, e: "01", f: "content", g: { h: { i: "x", j: "" } }, k: [], l: [1, 2] },
    });
  });

  it.each([
    [["a"], "a field must be name=value, not a"],
    [["=1"], "a field must be name=value, not =1"],
    [["a[=1"], "a field must be name=value, not a[=1"],
    [["a=1", "a=2"], "a is both a value and a list or an object"],
    [["a=1", "a[b]=2"], "a[b] is both a value and a list or an object"],
    [["a[]=1", "a[b]=2"], "a[b] is both a value and a list or an object"],
    [["a=@gone"], "gone cannot be read"],
  ])("%j is refused", (texts, line) => {
    expect(read(...texts)).toEqual({ ok: false, line });
  });

  it("named like members of every object are fields too", () => {
    const fields = read("__proto__[x]=1", "constructor=2");
    expect(fields.ok && JSON.stringify(fields.value)).toBe('{"__proto__":{"x":1},"constructor":2}');
    expect(({} as Record<string, unknown>)["x"]).toBeUndefined();
  });
});
