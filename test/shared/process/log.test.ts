import { describe, expect, it } from "vitest";
import { createLog } from "#shared/process/log.ts";

function capture() {
  const lines: Record<string, unknown>[] = [];
  const log = createLog({
    destination: { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
  });
  return { log, lines };
}

describe("a log line", () => {
  it("is JSON with level, time and message", () => {
    const { log, lines } = capture();
    log.warn({ region: "eu-west" }, "hello");
    expect(lines).toEqual([
      { level: "warn", time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/), region: "eu-west", msg: "hello" },
    ]);
  });

  it("shows no credential, wherever it stands and however it is spelt", () => {
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
    // The caller's own object is as it was.
    expect(fields.authorization).toBe(secret);
  });

  it("holds of an error what it says and where it came from, not the fields a driver hangs on it", () => {
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

  it("survives whatever it is given", () => {
    const { log, lines } = capture();
    const loop: Record<string, unknown> = {};
    loop["self"] = loop;
    log.info(loop, "loop");
    log.info({ err: "a string" }, "thrown");
    log.info({ deep: { a: { b: { c: { d: { e: { f: 1 } } } } } } }, "deep");
    expect(lines.map(({ msg }) => msg)).toEqual(["loop", "thrown", "deep"]);
  });
});
