import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createSecretFiles } from "#shared/client/apply/make-plan.ts";
import { openWebhookWorld } from "#test/shared/client/apply/webhooks/world.ts";

const root = mkdtempSync(join(tmpdir(), "vantage-secrets-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const at = (...names: readonly string[]) => join(root, ...names);
for (const folder of ["shop/keys", "shop/..data", "shop-other", "allowed"]) mkdirSync(at(folder), { recursive: true });
for (const file of ["shop/key", "shop/keys/key", "shop/..data/key", "shop-other/key", "allowed/key", "key"])
  writeFileSync(at(file), `value-of-${file}`);
writeFileSync(at("shop/large"), Buffer.alloc(1024 * 1024 + 1));
symlinkSync(at("shop/..data/key"), at("shop/link"));
symlinkSync(at("shop-other/key"), at("shop/away"));
symlinkSync(at("allowed"), at("shop/folder"));

describe("a document's file", () => {
  it.each([
    ["beside it", "key", "shop/key", "key"],
    ["below its folder", "keys/key", "shop/keys/key", "keys/key"],
    ["in a folder whose name begins with dots", "..data/key", "shop/..data/key", "..data/key"],
    ["by its whole path", at("shop/key"), "shop/key", at("shop/key")],
    ["through a link that stays", "link", "shop/..data/key", `link (${at("shop/..data/key")})`],
  ])("is read %s", (_where, path, file, name) => {
    expect(createSecretFiles(at("shop"), [])(path)).toEqual({ ok: true, text: `value-of-${file}`, name });
  });

  it.each([
    ["above its folder", "../key", "."],
    ["in a folder whose name begins alike", "../shop-other/key", "shop-other"],
    ["by its whole path", at("key"), "."],
    ["behind a link", "away", "shop-other"],
    ["in a folder behind a link", "folder/key", "allowed"],
  ])("is not read %s, unless its user allows the folder", (_where, path, folder) => {
    expect(createSecretFiles(at("shop"), [at("shop/keys")])(path)).toEqual({
      ok: false,
      why: `needs the file ${path}, which is outside of the document's folder; allow it with --allow-files ${at(folder)}`,
    });
    const allowed = createSecretFiles(at("shop"), [at("shop/keys"), at(folder)])(path);
    expect(allowed).toMatchObject({ ok: true, text: expect.stringMatching(/^value-of-/) });
  });

  it.each([
    ["none", "nothing", "cannot be read (ENOENT: no such file or directory)"],
    ["a folder", "keys", "is no file"],
    ["a device without an end", "/dev/zero", "is no file"],
    ["a large one", "large", "is larger than 1 MB"],
  ])("is refused if it is %s", (_what, path, why) => {
    const found = createSecretFiles(at("shop"), ["/dev"])(path);
    expect(found).toEqual({
      ok: false,
      why: expect.stringContaining(`needs the file ${path}, which ${why.split(" (")[0]}`),
    });
  });
});

describe("apply", () => {
  const world = openWebhookWorld();

  it("names the files and variables that it reads before it asks, and reads no others", async () => {
    const document = (file: string) => `version: 2
monitors: []
webhooks:
  - {name: Chat, url: "https://hooks.example.com/", secret: {file: ${file}}, headers: {A: {env: HOOK_TOKEN}}}
`;
    world.write(document(at("allowed/key")));
    const refused = await world.apply({ HOOK_TOKEN: "token-of-mine" });
    expect(refused).toMatchObject({ status: 2, said: "" });
    expect(refused.complained).toContain(
      ` secret needs the file ${at("allowed/key")}, which is outside of the document's folder; allow it with --allow-files ${at("allowed")}`,
    );
    const flags = ["--allow-files", at("shop"), "--allow-files", at("allowed"), "--yes"];
    const dry = await world.apply({ HOOK_TOKEN: "token-of-mine" }, [...flags, "--dry-run"]);
    expect(dry.said.split("\n").slice(0, 3)).toEqual([
      "+ webhook Chat",
      `< file ${at("allowed/key")}: secret of webhook Chat`,
      "< variable HOOK_TOKEN: headers.A of webhook Chat",
    ]);
    expect(dry.said).not.toContain("value-of");
    expect((await world.apply({ HOOK_TOKEN: "token-of-mine" }, flags)).status).toBe(0);
    const gone = await world.apply({}, ["--allow-files", at("nowhere"), "--yes"]);
    expect(gone).toMatchObject({
      status: 2,
      complained: expect.stringContaining("a folder of --allow-files cannot be read"),
    });
  });
});
