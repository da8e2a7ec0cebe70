import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { kidOf, signPayload } from "#shared/audit/signature.ts";
import { runVantage } from "#test/shared/client/command-line.ts";

const SECRET = "vas_0123456789";
const directory = mkdtempSync(join(tmpdir(), "vantage-verify-"));
const data = {
  type: "monitor",
  account_id: 3,
  generated_at: "2026-01-01T00:00:00.000Z",
  subject: { id: 1, name: "Shop\u001b[2J" },
};
const sig = signPayload(data, SECRET, 1_767_225_600);
const at = (name: string) => join(directory, name);

beforeAll(() => {
  writeFileSync(at("whole.json"), JSON.stringify({ data: { data, sig }, meta: { request_id: "x" } }));
  writeFileSync(at("changed.json"), JSON.stringify({ data: { ...data, account_id: 4 }, sig }));
  writeFileSync(at("page.html"), "<!doctype html>");
  // As `accounts audit-secret` prints it.
  writeFileSync(at("secret"), `${SECRET}\n(audit secret ${kidOf(SECRET)}; not shown again)\n`);
  writeFileSync(at("windows"), `${SECRET}\r\n`);
  writeFileSync(at("other"), `${SECRET}!`);
  writeFileSync(at("empty"), "\n\n");
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const verify = (file: string, secret = "secret") =>
  runVantage(["verify-audit", at(file), "--secret-file", at(secret)], {});

test("a valid export has status 0, and what it is about is printed so that it cannot control a terminal", async () => {
  for (const secret of ["secret", "windows"]) {
    expect(await verify("whole.json", secret)).toEqual({
      status: 0,
      complained: "",
      said: [
        `Verified: this is what was signed at 2026-01-01T00:00:00.000Z with the secret ${kidOf(SECRET)}.`,
        "type: monitor",
        "account_id: 3",
        "generated_at: 2026-01-01T00:00:00.000Z",
        String.raw`subject: {"id":1,"name":"Shop\u001b[2J"}`,
      ].join("\n"),
    });
  }
});

test("an export that is not what was signed has status 1 and one line that says why", async () => {
  expect(await verify("changed.json")).toEqual({
    status: 1,
    said: "",
    complained:
      `vantage: ${at("changed.json")} is NOT verified: it is not what was signed with the secret ${kidOf(SECRET)}: ` +
      "its data, its time (sig.ts) or its signature was changed",
  });
  expect(await verify("whole.json", "other")).toMatchObject({
    status: 1,
    complained:
      `vantage: ${at("whole.json")} is NOT verified: it was signed with the secret ${kidOf(SECRET)}, ` +
      `and the secret in ${at("other")} is ${kidOf(`${SECRET}!`)}`,
  });
  expect(await verify("page.html")).toMatchObject({
    status: 1,
    complained: `vantage: ${at("page.html")} is NOT verified: it is not JSON in UTF-8`,
  });
});

test("a file that cannot be read, or without a secret, has status 2", async () => {
  expect(await verify("absent.json")).toMatchObject({
    status: 2,
    complained: `vantage: ${at("absent.json")} cannot be read (ENOENT)`,
  });
  expect(await verify("whole.json", "absent")).toMatchObject({ status: 2 });
  expect(await verify("whole.json", "empty")).toMatchObject({
    status: 2,
    complained: `vantage: ${at("empty")} has no secret in its first line`,
  });
  const usage = await runVantage(["verify-audit", at("whole.json")], {});
  expect([usage.status, usage.complained]).toEqual([2, expect.stringContaining("--secret-file")]);
});
