import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { signPayload } from "#shared/audit/signature.ts";
import { LAUNCHER_PATH } from "#shared/client/programs.ts";
import { ROOT } from "#test/laws/source-files.ts";
import { callExport, createAccount, revealSecret } from "#test/support/audit.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { portsOutcome } from "#test/support/measurements.ts";
import { attachScripted, helloOf } from "#test/support/scripted-agent.ts";

/** The samples of the documentation, each with the programs it needs. */
const RECIPES = [
  {
    name: "verify-audit",
    needs: [],
    words: (file: string, secret: string) => [LAUNCHER_PATH, "verify-audit", file, "--secret-file", secret],
  },
  {
    name: "verify.mjs",
    needs: [],
    words: (file: string, secret: string) => [process.execPath, sample("verify.mjs"), file, secret],
  },
  {
    name: "verify.py",
    needs: ["python3"],
    words: (file: string, secret: string) => ["python3", sample("verify.py"), file, secret],
  },
  {
    name: "verify.sh",
    needs: ["jq", "openssl"],
    words: (file: string, secret: string) => ["sh", sample("verify.sh"), file, secret],
  },
] as const;

function sample(name: string): string {
  return join(ROOT, "deploy/samples/audit", name);
}

const isInstalled = (program: string) => spawnSync("sh", ["-c", `command -v ${program}`]).status === 0;
const missing = new Map(RECIPES.map(({ name, needs }) => [name, needs.filter((program) => !isInstalled(program))]));
for (const [name, programs] of missing) {
  if (programs.length > 0)
    console.log(`skipped: deploy/samples/audit/${name}: ${programs.join(", ")} is not installed`);
}

const folder = mkdtempSync(join(tmpdir(), "vantage-audit-"));
let plane: TestControlPlane;
let secret: string;
/** Responses of the service by type, as curl writes them. */
const responses = new Map<string, string>();

beforeAll(async () => {
  plane = await startControlPlane();
  const agent = await attachScripted(plane, helloOf("eu-a"));
  const { key } = await createAccount(plane);
  const made = await plane.call("/api/v4/monitors", {
    key,
    body: { name: "Größe €\u{1f600}", url: "https://shop.example.com/?a=b&c", locations: ["eu-a"], is_active: false },
  });
  const { id } = made.body.data as { id: number };
  const called = plane.call("/api/v4/ping?host=127.0.0.1&action=ports&ports=443&share=1", { key });
  const job = await agent.nextJob();
  agent.accept(job);
  agent.answer(job, portsOutcome());
  const shareId = (await called).body.meta["share_id"];
  for (const query of [`type=monitor&id=${id}`, `type=check&id=${String(shareId)}`, "type=tenant"]) {
    responses.set(query.slice(5).split("&", 1)[0] ?? "", (await callExport(plane, key, query)).text);
  }
  secret = (await revealSecret(plane, { key })).secret;
  agent.cut();
});
afterAll(async () => {
  await plane?.stop();
  rmSync(folder, { recursive: true, force: true });
});

let files = 0;

/** Verifies a text with a recipe. */
function run(recipe: (typeof RECIPES)[number], text: string, key = secret): { status: number | null; output: string } {
  files += 1;
  const [file, secretFile] = [join(folder, `${files}.json`), join(folder, `${files}.secret`)];
  writeFileSync(file, text);
  writeFileSync(secretFile, `${key}\n(audit secret 0123abcd; not shown again)\n`);
  const [command = "", ...words] = recipe.words(file, secretFile);
  const { status, stdout, stderr } = spawnSync(command, words, { encoding: "utf8", timeout: 240_000 });
  return { status, output: `${stdout}${stderr}` };
}

/** Payload whose canonical form needs every rule of RFC 8785. */
const HARD = {
  type: "check",
  account_id: 1,
  generated_at: "2026-01-01T00:00:00.000Z",
  numbers: [
    0, -0, 1e21, 1e-7, 4.5, 0.000001, 123456789012345680000, 333333333.3333333, 9007199254740992, -1.5e300, 5e-324,
  ],
  text: "\u20ac$\u000f\nA'\"\\/\b\f\r\t\u007f\u2028<&>",
  "\ufb33": "after the next in code units",
  "\ud83d\ude00": "before",
  nothing: [null, true, false, {}, []],
};

for (const recipe of RECIPES) {
  describe.skipIf((missing.get(recipe.name) ?? []).length > 0)(`the recipe ${recipe.name}`, () => {
    it.each(["monitor", "check", "tenant"])("verifies an export of type %s, whole or its data", (type) => {
      const text = responses.get(type) ?? "";
      const whole = run(recipe, text);
      expect(whole.output).toMatch(/^Verified: /);
      expect(whole.status).toBe(0);
      const { data } = JSON.parse(text) as { data: object };
      expect(run(recipe, JSON.stringify(data, null, 2))).toMatchObject({ status: 0 });
    });

    it("refuses a changed export, another time and another secret", () => {
      const text = responses.get("monitor") ?? "";
      const changes = [
        text.replace('"status":"unknown"', '"status":"up"'),
        text.replace(/"ts":\d+/, '"ts":1767225600'),
        text.replace(/"value":"[0-9a-f]/, '"value":"x'),
      ];
      for (const changed of changes) {
        expect(changed).not.toBe(text);
        const { status, output } = run(recipe, changed);
        expect([status, output]).toEqual([1, expect.stringContaining("NOT verified")]);
      }
      const other = run(recipe, text, `${secret}x`);
      expect([other.status, other.output]).toEqual([1, expect.stringContaining("it was signed with the secret ")]);
    });

    // verify.sh names what jq writes in another way: some of these numbers, U+007F, and the order of these names.
    it("knows every rule of RFC 8785, unless it uses jq", () => {
      const text = JSON.stringify({ data: HARD, sig: signPayload(HARD, secret, 1_767_225_600) });
      expect(run(recipe, text).status).toBe(recipe.name === "verify.sh" ? 1 : 0);
    });
  });
}

it("the samples need nothing of the clone", () => {
  const text = spawnSync("cat", [sample("verify.mjs"), sample("verify.py"), sample("verify.sh")], {
    encoding: "utf8",
  }).stdout;
  expect(text.length).toBeGreaterThan(3_000);
  expect(text).not.toMatch(/#shared|node_modules|vantage\.ts/);
});
