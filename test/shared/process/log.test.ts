import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createLog, gather, type LogOptions } from "#shared/process/log.ts";

function capture() {
  const lines: Record<string, unknown>[] = [];
  const log = createLog({
    destination: { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
  });
  return { log, lines };
}

describe("a log line", () => {
  it("is written from the configured level on, info by default", () => {
    const levels = ["fatal", "error", "warn", "info", "debug", "trace"] as const;
    const written = (options: Pick<LogOptions, "level">) => {
      const lines: string[] = [];
      const log = createLog({ ...options, destination: { write: (line) => void lines.push(line) } });
      for (const level of levels) log[level]("x");
      return lines.map((line) => (JSON.parse(line) as { level: string }).level);
    };
    for (const level of levels) expect(written({ level })).toEqual(levels.slice(0, levels.indexOf(level) + 1));
    expect(written({})).toEqual(["fatal", "error", "warn", "info"]);
  });

  it("is JSON with level, time and message", () => {
    const { log, lines } = capture();
    log.warn({ region: "eu-west" }, "hello");
    expect(lines).toEqual([
      { level: "warn", time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/), region: "eu-west", msg: "hello" },
    ]);
  });

  it("contains no credential at any depth and in any spelling", () => {
    const { log, lines } = capture();
    const secret = "do-not-show";
    const fields = {
      authorization: secret,
      headers: { "X-API-Key": secret, cookie: secret, accept: "*/*" },
      nested: { list: [{ api_key: secret, id: 1 }], deeper: { adminToken: secret } },
      password: { any: secret },
      databaseUrl: secret,
    };
    log.info(fields, "x");
    expect(JSON.stringify(lines)).not.toContain(secret);
    expect(lines[0]).toMatchObject({ headers: { accept: "*/*" }, nested: { list: [{ id: 1 }] } });
    // The caller's own object is unchanged.
    expect(fields.authorization).toBe(secret);
  });

  it("has the message and origin of an error, not the fields that a driver adds to it", () => {
    const { log, lines } = capture();
    const cause = Object.assign(new Error("refused"), { code: "ECONNREFUSED", parameters: ["private"] });
    log.error({ err: new TypeError("broken", { cause }) }, "failed");
    expect(lines[0]?.["err"]).toMatchObject({
      type: "TypeError",
      message: "broken",
      cause: { message: "refused", code: "ECONNREFUSED" },
    });
    expect(JSON.stringify(lines)).not.toContain("private");
  });

  it("is written for any value", () => {
    const { log, lines } = capture();
    const loop: Record<string, unknown> = {};
    loop["self"] = loop;
    log.info(loop, "loop");
    log.info({ err: "a string" }, "thrown");
    log.info({ deep: { a: { b: { c: { d: { e: { f: 1 } } } } } } }, "deep");
    expect(lines.map(({ msg }) => msg)).toEqual(["loop", "thrown", "deep"]);
  });
});

describe("standard output", () => {
  const script = (end: string) => `
    const { createLog } = await import("#shared/process/log.ts");
    const log = createLog();
    for (let at = 0; at < 2000; at += 1) log.info({ at }, "line");
    ${end}`;
  const linesOf = (end: string) => {
    const output = execFileSync(process.execPath, ["--input-type=module", "-e", script(end)], { encoding: "utf8" });
    return output
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as { at: number }).at);
  };
  const all = Array.from({ length: 2_000 }, (_, at) => at);

  it.each([
    ["by itself", ""],
    ["after a flush", "log.flush(() => process.exit(0))"],
  ])("has every line when the process ends %s", (_how, end) => expect(linesOf(end)).toEqual(all));

  it("has a line a moment after it was written, and immediately after a flush", async () => {
    const folder = mkdtempSync(join(tmpdir(), "log-"));
    const file = join(folder, "lines");
    const stream = gather(file);
    stream.write("one\n");
    await expect.poll(() => readFileSync(file, "utf8")).toBe("one\n");
    stream.write("two\n");
    await new Promise((resolve) => {
      stream.flush(resolve);
    });
    expect(readFileSync(file, "utf8")).toBe("one\ntwo\n");
    rmSync(folder, { recursive: true });
  });
});
