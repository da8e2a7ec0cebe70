import { pino } from "pino";
import { beforeAll, describe, expect, it } from "vitest";
import { createAccount, exportAudit, isSignedWith, revealSecret, type SignedAnswer } from "#test/support/audit.ts";
import { ADMIN_TOKEN, startControlPlane, type Answer } from "#test/support/control-plane.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const lines: string[] = [];

const one = await stopAfterAll(
  startControlPlane({ log: pino({ level: "trace" }, { write: (line: string) => void lines.push(line) }) }),
);
const two = await stopAfterAll(startControlPlane({ databaseUrl: one.databaseUrl }));

const TENANT = "type=tenant";
const errorOf = ({ status, body }: Answer) => [status, body.error["code"], body.error["field"], body.error["reason"]];
const verify = async (body: unknown) =>
  (await one.operate("POST", "/api/admin/audit-verify", body)).body.data as object;

describe("the secret of an account", () => {
  it("is made by the first export, the same on every replica, and then shown to the operator once", async () => {
    const { id, key } = await createAccount(one);
    const exports = await Promise.all(
      Array.from({ length: 10 }, (_, n) => exportAudit(n % 2 === 0 ? one : two, key, TENANT)),
    );
    expect(new Set(exports.map(({ sig }) => sig.kid)).size).toBe(1);
    const { kid, secret } = await revealSecret(one, { account_id: id });
    expect(secret).toMatch(/^vas_[\w-]{43}$/);
    for (const signed of exports) expect([signed.sig.kid, isSignedWith(signed, secret)]).toEqual([kid, true]);
    expect((await revealSecret(one, { account_id: id })).secret).not.toBe(secret);
  });

  it("is replaced when the operator asks again: the new one signs, and the old one verifies what it signed", async () => {
    const { key } = await createAccount(one);
    const old = await revealSecret(one, { key });
    const before = await exportAudit(one, key, TENANT);
    const present = await revealSecret(two, { key });
    expect(present.kid).not.toBe(old.kid);
    const after = await exportAudit(one, key, TENANT);
    expect([isSignedWith(before, old.secret), isSignedWith(before, present.secret)]).toEqual([true, false]);
    expect([isSignedWith(after, old.secret), isSignedWith(after, present.secret)]).toEqual([false, true]);
    expect(await verify(before)).toMatchObject({ valid: true, kid: old.kid, retired_at: expect.any(String) });
    expect(await verify(after)).toMatchObject({ valid: true, kid: present.kid, retired_at: null });
  });

  it("belongs to one account: another's verifies nothing", async () => {
    const [ours, theirs] = [await createAccount(one), await createAccount(one)];
    const { secret } = await revealSecret(one, { account_id: theirs.id });
    const { data, sig } = await exportAudit(one, ours.key, TENANT);
    expect(isSignedWith({ data, sig }, secret)).toBe(false);
    const claimed = { data: { ...data, account_id: theirs.id }, sig };
    expect(await verify(claimed)).toMatchObject({ valid: false, reason: "unknown_secret" });
  });

  it("is encrypted at rest, and in no log, list or change", async () => {
    const { id, key } = await createAccount(one);
    const { secret } = await revealSecret(one, { account_id: id });
    await exportAudit(one, key, TENANT);
    const [row] = await one.app.sql<{ secret: Uint8Array }[]>`
      select secret from audit_secrets where account_id = ${id}`;
    expect(Buffer.from(row?.secret ?? []).includes(secret)).toBe(false);
    const changes = await one.call("/api/v4/changes", { key });
    expect(changes.body.data[0]).toMatchObject({
      subject: { kind: "audit_secret", id: null, name: null },
      action: "created",
    });
    expect(changes.text).not.toContain(secret);
    expect(lines.length).toBeGreaterThan(5);
    expect(lines.filter((line) => line.includes(secret) || line.includes("vas_"))).toEqual([]);
  });

  it("is erased with the account; the data export before has its name and times", async () => {
    const { id, key } = await createAccount(one);
    const old = await revealSecret(one, { account_id: id });
    const { kid, secret } = await revealSecret(one, { account_id: id });
    const signed = await exportAudit(one, key, TENANT);
    const erased = await one.operate("DELETE", `/api/admin/accounts?id=${id}&export=1`);
    const { audit_secrets: exported, changes } = erased.body.data["export"] as Record<string, readonly object[]>;
    expect(exported).toMatchObject([
      { kid, retired_at: null, shown_at: expect.any(String) },
      { kid: old.kid, retired_at: expect.any(String) },
    ]);
    expect(changes?.length).toBeGreaterThan(3);
    expect(erased.text).not.toContain(secret);
    expect(await one.app.sql`select 1 from audit_secrets where account_id = ${id}`).toEqual([]);
    expect(await one.app.sql`select 1 from account_changes where account_id = ${id}`).toEqual([]);
    expect(await verify(signed)).toMatchObject({ valid: false, reason: "unknown_secret" });
  });
});

describe("POST /api/admin/audit-secret", () => {
  it("needs the operator's token and one way to name an existing account", async () => {
    const { id, key } = await createAccount(one);
    const ask = (body: object) => one.operate("POST", "/api/admin/audit-secret", body);
    const strangers = await one.call("/api/admin/audit-secret", {
      headers: { authorization: `Bearer ${key}` },
      body: { account_id: id },
    });
    expect(errorOf(strangers).slice(0, 2)).toEqual([401, "invalid_api_key"]);
    expect(errorOf(await ask({}))).toEqual([400, "missing_parameter", "account_id", "required"]);
    expect(errorOf(await ask({ account_id: id, key }))).toEqual([400, "missing_parameter", "key", "duplicate"]);
    expect(errorOf(await ask({ account_id: "x" }))).toEqual([400, "missing_parameter", "account_id", "type"]);
    expect(errorOf(await ask({ account: id }))).toEqual([400, "missing_parameter", "account", "unknown"]);
    for (const absent of [{ account_id: 999_999 }, { key: "vtg_x" }, { key: `${key.slice(0, -1)}?` }]) {
      expect(errorOf(await ask(absent)).slice(0, 2)).toEqual([404, "not_found"]);
    }
  });
});

describe("POST /api/admin/audit-verify", () => {
  let signed: SignedAnswer;

  beforeAll(async () => {
    const { key } = await createAccount(one);
    signed = await exportAudit(one, key, TENANT);
  });

  it("accepts the whole response as well as its data", async () => {
    expect(await verify({ data: signed, meta: { request_id: "x" } })).toMatchObject({ valid: true, reason: null });
    expect(await verify(signed)).toMatchObject({
      valid: true,
      account_id: signed.data.account_id,
      kid: signed.sig.kid,
      signed_at: new Date(signed.sig.ts * 1_000).toISOString(),
    });
  });

  it("finds what was changed after signing", async () => {
    const { data, sig } = signed;
    for (const changed of [
      { data: { ...data, generated_at: "2020-01-01T00:00:00.000Z" }, sig },
      { data: { ...data, more: 1 }, sig },
      { data, sig: { ...sig, ts: sig.ts + 1 } },
      { data, sig: { ...sig, value: "0".repeat(64) } },
    ]) {
      expect(await verify(changed)).toMatchObject({ valid: false, reason: "changed" });
    }
    const other = { data, sig: { ...sig, kid: "00000000" } };
    expect(await verify(other)).toMatchObject({ valid: false, reason: "unknown_secret" });
  });

  it("refuses what is no export, or would be read differently by others", async () => {
    const text = JSON.stringify(signed);
    for (const body of [
      "[]",
      "{}",
      text.slice(0, -1),
      text.replace('{"data":{', '{"data":{"account_id":2,'),
      text.replace('"account_id":', '"account_id":1e400,"x":'),
      JSON.stringify({ ...signed, sig: { ...signed.sig, v: 2 } }),
      JSON.stringify({ ...signed, sig: { ...signed.sig, ts: 1e15 } }),
      JSON.stringify({ ...signed, data: { ...signed.data, account_id: "1" } }),
    ]) {
      const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "application/json" };
      const refused = await one.call("/api/admin/audit-verify", { method: "POST", headers, body });
      expect(errorOf(refused), body.slice(0, 80)).toEqual([400, "missing_parameter", "body", "type"]);
    }
  });
});
