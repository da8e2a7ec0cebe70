import { spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { LAUNCHER_PATH } from "#shared/client/programs.ts";
import { createAccount, type TestAccount } from "#test/support/audit.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { runVantage } from "#test/shared/client/command-line.ts";
import { WIDE_PLANS } from "#test/support/wide-plans.ts";

let plane: TestControlPlane;
let account: TestAccount;
let home: string;

beforeAll(async () => {
  plane = await startControlPlane();
  account = await createAccount(plane, "captain");
});
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "vantage-login-"));
  return () => rmSync(home, { recursive: true, force: true });
});
afterAll(() => plane?.stop());

const fileIn = (folder: string) => join(folder, ".config", "vantage", "profiles.json");

/** Runs a command with the home of this test and nothing else in its environment. */
const run = (words: readonly string[], stdin = "", more: Readonly<Record<string, string>> = {}) =>
  runVantage(words, { HOME: home, ...more }, () => {}, { stdin });

const logIn = (words: readonly string[] = [], key = account.key, more: Readonly<Record<string, string>> = {}) =>
  run(["login", "--key-stdin", "--base-url", plane.url, ...words], `${key}\n`, more);

describe("login", () => {
  it("stores a key that is valid, for its owner only, and later commands need neither key nor URL", async () => {
    const signedIn = await logIn();
    expect(signedIn).toMatchObject({ status: 0, complained: "" });
    expect(signedIn.said).toBe(
      `Signed in to ${plane.url} as account ${account.id} (plan captain). The key is in ${fileIn(home)}, profile default.`,
    );
    const { mode } = statSync(fileIn(home));
    expect((mode & 0o777).toString(8)).toBe("600");
    expect((statSync(join(home, ".config", "vantage")).mode & 0o777).toString(8)).toBe("700");

    const shown = await run(["whoami"]);
    expect(shown.said).toMatch(
      new RegExp(`^Service +${plane.url}\nAccount +${account.id}\nPlan +captain\nScopes +check, `),
    );
    const { requestsPerMinute: perMinute, requestsPerDay: perDay } = WIDE_PLANS.captain;
    expect(shown.said).toMatch(
      new RegExp(`^Requests +\\d+ of ${perMinute} this minute, \\d+ of ${perDay} today \\(UTC\\)$`, "m"),
    );
    expect(shown.said).toMatch(/^Monitors +0 of 1000$/m);
    const json = await run(["whoami", "--json"]);
    expect(JSON.parse(json.said)).toMatchObject({ id: account.id, plan: "captain", usage: { keys: 1 } });
  });

  it("stores nothing if the key is wrong or the service is away", async () => {
    const wrong = await logIn([], "vtg_wrong");
    expect(wrong).toMatchObject({ status: 3, said: "" });
    expect(wrong.complained).toContain("vantage login: invalid_api_key: This API key is not valid");
    const away = await run(["login", "--key-stdin", "--base-url", "http://127.0.0.1:9"], account.key);
    expect(away).toMatchObject({ status: 5, said: "" });
    const empty = await logIn([], "");
    expect(empty).toMatchObject({ status: 2, complained: "vantage login: the key must be one line, such as vtg_..." });
    expect(existsSync(fileIn(home))).toBe(false);
  });

  it("without a terminal asks nothing and says how to pass the key", async () => {
    const ran = await run(["login", "--base-url", plane.url]);
    expect(ran).toMatchObject({
      status: 2,
      complained: "vantage login: there is no terminal to ask for the key: pass it with --key-stdin",
    });
  });

  it("keeps several services apart by the names of their profiles", async () => {
    const other = await createAccount(plane, "free");
    await logIn();
    await logIn(["--profile", "work"], other.key);
    const idOf = async (words: readonly string[]) =>
      (JSON.parse((await run(["whoami", "--json", ...words])).said) as { readonly id: number }).id;
    expect([await idOf([]), await idOf(["--profile", "work"])]).toEqual([account.id, other.id]);

    expect((await run(["logout", "--profile", "work"])).said).toContain("profile work. It stays valid");
    const gone = await run(["whoami", "--profile", "work"]);
    expect(gone).toMatchObject({ status: 2, said: "" });
    expect(gone.complained).toContain("no profile work (there are default): run deploy/vantage login --profile work");
    expect(await idOf([])).toBe(account.id);
    await run(["logout"]);
    expect(existsSync(fileIn(home))).toBe(false);
    expect((await run(["whoami"])).complained).toContain("no API key: run deploy/vantage login, set VTG_API_KEY");
    const nothing = await run(["logout"]);
    expect(nothing).toMatchObject({ status: 2, complained: `vantage logout: no profile default in ${fileIn(home)}` });
  });

  it("refuses a file of keys that other users can read", async () => {
    await logIn();
    chmodSync(fileIn(home), 0o640);
    const refused = `other users can read the keys in ${fileIn(home)}: revoke them, or run chmod 600 ${fileIn(home)}`;
    expect(await run(["whoami"])).toMatchObject({ status: 2, said: "", complained: `vantage whoami: ${refused}` });
    expect(await logIn()).toMatchObject({ status: 2, said: "", complained: `vantage login: ${refused}` });
    // A key of the environment needs no file.
    const given = { VTG_API_KEY: account.key, VANTAGE_BASE_URL: plane.url };
    expect(await run(["whoami"], "", given)).toMatchObject({ status: 0 });
  });

  it("closes a folder that was open, and says when a file is no file of profiles", async () => {
    mkdirSync(join(home, "vantage"), { mode: 0o755, recursive: true });
    chmodSync(join(home, "vantage"), 0o755);
    const more = { XDG_CONFIG_HOME: home };
    expect(await logIn([], account.key, more)).toMatchObject({ status: 0 });
    expect((statSync(join(home, "vantage")).mode & 0o777).toString(8)).toBe("700");
    writeFileSync(join(home, "vantage", "profiles.json"), "{");
    const ran = await run(["whoami"], "", more);
    expect(ran.complained).toContain("is not a file of profiles: correct or remove it");
  });
});

describe("the key of a profile", () => {
  it("gives way to a flag and to the environment", async () => {
    const other = await createAccount(plane, "free");
    await logIn();
    const flag = await run(["whoami", "--json", "--key", other.key]);
    const variable = await run(["whoami", "--json"], "", { VTG_API_KEY: other.key });
    for (const { said } of [flag, variable]) expect(JSON.parse(said)).toMatchObject({ id: other.id });
    const named = await run(["whoami", "--json", "--profile", "default"], "", {
      VTG_API_KEY: other.key,
      VANTAGE_BASE_URL: "http://127.0.0.1:9",
    });
    expect(JSON.parse(named.said)).toMatchObject({ id: account.id });
  });

  it("is never sent to another service", async () => {
    await logIn();
    const ran = await run(["whoami", "--base-url", "http://127.0.0.1:9"]);
    expect(ran).toMatchObject({ status: 2, said: "" });
    expect(ran.complained).toContain(`the key of the profile default is for ${plane.url}, not for http://127.0.0.1:9`);
  });
});

describe("on a terminal", () => {
  const hasScript = spawnSync("script", ["--version"]).status === 0;

  /** Types the answers to the questions of `login`; what the terminal showed. */
  async function typeInto(answers: readonly (readonly [question: string, answer: string])[]): Promise<string> {
    const line = `${LAUNCHER_PATH} login; echo "status $?"`;
    const env = { PATH: process.env["PATH"], HOME: home };
    const terminal = spawn("script", ["-qec", line, "/dev/null"], { env, stdio: "pipe" });
    let shown = "";
    terminal.stdout.on("data", (chunk) => (shown += String(chunk)));
    for (const [question, answer] of answers) {
      await expect.poll(() => shown).toContain(question);
      terminal.stdin.write(answer);
    }
    await expect.poll(() => shown).toContain("status ");
    terminal.stdin.end();
    return shown;
  }

  it.skipIf(!hasScript)("login asks for URL and key, and does not show the key", async () => {
    const shown = await typeInto([
      ["URL of the service [http://127.0.0.1:8080]: ", `${plane.url}\r`],
      ["API key (it is not shown): ", `${account.key}\r`],
    ]);
    expect(shown).toContain("status 0");
    expect(shown).toContain(`Signed in to ${plane.url} as account ${account.id}`);
    expect(shown).not.toContain(account.key);
    expect(readFileSync(fileIn(home), "utf8")).toContain(account.key);
  });

  it.skipIf(!hasScript)("Ctrl-C at a question stores nothing and ends with 130", async () => {
    const shown = await typeInto([["URL of the service", "\u0003"]]);
    expect(shown).toContain("status 130");
    expect(existsSync(fileIn(home))).toBe(false);
  });
});
