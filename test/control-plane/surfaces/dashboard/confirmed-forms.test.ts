import { argon2Sync } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createManualClock } from "#test/support/clock.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import {
  fieldsOfForm,
  joinAccount,
  listKeys,
  openBrowser,
  PASSWORD,
  signIn,
  signInOwner,
} from "#test/support/dashboard.ts";
import type { Browser, FormFields } from "#test/support/dashboard.ts";

const MINUTE_MS = 60_000;
const clock = createManualClock(new Date("2026-11-27T20:00:00Z"));
let plane: TestControlPlane;
let owner: Browser;
let accountId: number;

beforeAll(async () => {
  plane = await startControlPlane({ overrides: { clock }, config: { trustedProxies: ["127.0.0.0/8"] } });
  ({ browser: owner, accountId } = await signInOwner(plane));
});

afterAll(() => plane.stop());

beforeEach(async () => {
  // The page with the form is open for too long. Failures of before do not count any more.
  clock.advance(16 * MINUTE_MS);
  owner = await signIn(plane, "owner@example.com");
  clock.advance(10 * MINUTE_MS);
});

const keyNames = async () => (await listKeys(plane, accountId)).map(({ name }) => name);

/** The hidden fields of a page, in their order. */
function hiddenOf(html: string): readonly (readonly [string, string])[] {
  return Array.from(
    html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g),
    ([, name = "", value = ""]) => {
      return [name, value] as const;
    },
  );
}

const TYPED: FormFields = { name: "grafana", scopes: ["check", "monitors"] };

describe("a sensitive form that is sent after the 10 minutes of its sign-in", () => {
  it("asks for the password, carries what was typed, and is done with the right one", async () => {
    const asked = await owner.post("/app/keys", TYPED);
    expect([asked.status, asked.html.includes("Confirm that it is you")]).toEqual([403, true]);
    const carried = hiddenOf(asked.html).filter(([name]) => name !== "_csrf");
    expect(carried).toEqual([
      ["name", "grafana"],
      ["scopes", "check"],
      ["scopes", "monitors"],
    ]);
    expect(fieldsOfForm(asked.html, "/app/keys")).toMatchObject({ name: "grafana", _password: "" });
    expect(await keyNames()).not.toContain("grafana");
    const wrong = await owner.post("/app/keys", { ...TYPED, _password: "not the password" });
    expect([wrong.status, wrong.html.includes("Email or password is wrong.")]).toEqual([403, true]);
    expect(hiddenOf(wrong.html).filter(([name]) => name !== "_csrf")).toEqual(carried);
    expect(wrong.html).not.toContain("not the password");
    expect(await keyNames()).not.toContain("grafana");
    const before = owner.cookie;
    const done = await owner.post("/app/keys", { ...TYPED, _password: PASSWORD });
    expect([done.status, done.html.includes("It is shown only now")]).toEqual([201, true]);
    expect(await keyNames()).toContain("grafana");
    // The session is a new one, and a copy of the old cookie is worth nothing.
    expect(owner.cookie).not.toBe(before);
    const copy = openBrowser(plane);
    copy.cookie = before;
    expect((await copy.get("/app/monitors")).status).toBe(303);
    expect((await owner.get("/app/keys")).status).toBe(200);
    expect((await owner.post("/app/keys", { name: "without a question" })).status).toBe(201);
  });

  it("keeps the new session where the form itself is refused, and its page can be sent again", async () => {
    const refused = await owner.post("/app/keys", { name: "n".repeat(500), _password: PASSWORD });
    expect([refused.status, refused.html.includes("Must have at most")]).toEqual([400, true]);
    expect((await owner.post("/app/members/invites", { role: "god" })).status).toBe(400);
    expect((await owner.post("/app/keys", { name: "second try" })).status).toBe(201);
  });

  it("asks in the account of the session, with its role", async () => {
    const other = await joinAccount(plane, accountId, "editor");
    clock.advance(10 * MINUTE_MS);
    expect((await other.post("/app/keys", { ...TYPED, _password: PASSWORD })).status).toBe(403);
    expect(await keyNames()).not.toContain("editor");
  });

  it("is done for nobody who has the cookie alone: Origin and _csrf are asked for first, and no guess is counted", async () => {
    const before = owner.cookie;
    for (let index = 0; index < 11; index += 1) {
      const fields = { name: "forged", _password: PASSWORD };
      expect((await owner.post("/app/keys", { ...fields, _csrf: "wrong" })).status).toBe(403);
      expect((await owner.post("/app/keys", fields, { origin: "https://evil.example" })).status).toBe(403);
    }
    expect([owner.cookie, (await keyNames()).includes("forged")]).toEqual([before, false]);
    expect((await owner.post("/app/keys", { name: "honest", _password: PASSWORD })).status).toBe(201);
  });

  it("limits guesses as those at the sign-in", async () => {
    const guess = (index: number, password: string) =>
      owner.post("/app/keys", { ...TYPED, _password: password }, { "x-forwarded-for": `192.0.2.${index}` });
    for (let index = 0; index < 10; index += 1) expect((await guess(index, "wrong")).status).toBe(403);
    const limited = await guess(11, PASSWORD);
    expect([limited.status, limited.headers.get("retry-after")]).toEqual([429, "900"]);
    expect(limited.html).toContain('value="grafana"');
    await expect(signIn(plane, "owner@example.com", { address: "192.0.2.99" })).rejects.toThrow("429");
  });

  it("shows what it carries as text", async () => {
    const markup = '"><script>alert(1)</script>';
    const { html } = await owner.post("/app/members/invites", { email: markup, role: markup, [markup]: markup });
    expect(html).toContain("&quot;&gt;&lt;script&gt;alert(1)");
    expect(html).not.toContain("<script>alert");
  });

  it("does nothing for an owner whose role was lowered while the form was open, or while the password is checked", async () => {
    const { sql } = plane.app;
    const second = await joinAccount(plane, accountId, "owner");
    const email = `owner-${accountId}@example.com`;
    const [row] = await sql<{ id: number }[]>`
      update users set password_hash = ${slowHash(PASSWORD)} where email = ${email} returning id`;
    await second.get("/app/monitors");
    clock.advance(10 * MINUTE_MS);
    expect((await owner.post("/app/keys", { _password: PASSWORD })).status).toBe(201);
    const during = second.post("/app/keys", { name: "too late", _password: PASSWORD });
    const isChecked = async () => {
      const attempts = await sql`select from sign_in_attempts where attempted_at = ${clock.now()}`;
      return attempts.length > 0;
    };
    await expect.poll(isChecked).toBe(true);
    expect((await owner.post(`/app/members/${row?.id}/role`, { role: "viewer" })).status).toBe(303);
    expect((await during).status).toBe(403);
    expect(await keyNames()).not.toContain("too late");
  });
});

/** Returns a stored hash of a password that takes far longer to compare with than others. */
function slowHash(password: string): string {
  const nonce = Buffer.alloc(16, 1);
  const hash = argon2Sync("argon2id", {
    message: password,
    nonce,
    tagLength: 32,
    memory: 19_456,
    passes: 100,
    parallelism: 1,
  });
  const encode = (bytes: Buffer) => bytes.toString("base64").replaceAll("=", "");
  return `$argon2id$v=19$m=19456,t=100,p=1$${encode(nonce)}$${encode(hash)}`;
}
