import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { BACKUP } from "#test/shared/client/uptime-kuma/backup.ts";
import type { Newcomer } from "#test/support/newcomer.ts";

/** Tries one line; rejects where it does not do what the document says. */
type Check = (line: string) => Promise<void>;

/** Checks of the commands of documents that call the service with a key, by the literal text of a document. */
export function clientCommands(newcomer: () => Newcomer): Readonly<Record<string, Check>> {
  /** Runs a line that must succeed; its output. */
  async function succeed(line: string, more: Readonly<Record<string, string>> = {}): Promise<string> {
    const { status, stdout, stderr } = await newcomer().run(line, more);
    expect(status, `${line}\n${stdout}${stderr}`).toBe(0);
    return stdout;
  }

  return {
    "echo $KEY | deploy/vantage login --key-stdin": async (line) => {
      expect(await succeed(line)).toMatch(/ as account 1 \(plan captain\)\. The key is in .*, profile default\.$/m);
    },
    "deploy/vantage whoami": async (line) => expect(await succeed(line)).toMatch(/^Account +1\nPlan +captain\n/m),
    "deploy/vantage logout": async (line) => expect(await succeed(line)).toContain("Removed the key of "),
    [`curl -H "X-API-Key: $KEY" -H "Content-Type: application/json" "http://127.0.0.1:8080/api/v4/monitors?action=try" -d '{"url": "https://example.com", "expected_code": 404}'`]:
      async (line) => {
        const { data } = JSON.parse(await succeed(`${line} -sS --fail-with-body`)) as { readonly data: object };
        expect(data).toMatchObject({ verdict: "down", cause: { code: "http_status" } });
      },
    "deploy/vantage monitors try --set url=https://example.com": async (line) => {
      const tried = JSON.parse(await succeed(line, { VTG_API_KEY: newcomer().key })) as object;
      expect(tried).toMatchObject({ verdict: "up", checks: [{ status: "up", http_status_code: 200 }] });
    },
    "deploy/vantage monitors create --set name=Docs --set url=https://example.com --set tags[]=env:prod": async (
      line,
    ) => {
      const made = JSON.parse(await succeed(line, { VTG_API_KEY: newcomer().key })) as object;
      expect(made).toMatchObject({ name: "Docs", tags: ["env:prod"] });
    },
    "deploy/vantage export -o ~/vantage.yaml": async (line) =>
      expect(await succeed(line, { VTG_API_KEY: newcomer().key })).toBe(""),
    "deploy/vantage export --schema": async (line) =>
      expect(await succeed(line, { VTG_API_KEY: newcomer().key })).toContain('"owner"'),
    "deploy/vantage apply -f ~/vantage.yaml --dry-run": async (line) =>
      expect(await succeed(line, { VTG_API_KEY: newcomer().key })).toBe("No change.\n"),
    "deploy/vantage apply -f ~/vantage.yaml --yes": async (line) =>
      expect(await succeed(line, { VTG_API_KEY: newcomer().key })).toBe("No change.\n"),
    "deploy/vantage import uptime-kuma ~/kuma.json -o ~/from-kuma.yaml": async (line) => {
      const { home } = newcomer();
      writeFileSync(join(home, "kuma.json"), JSON.stringify(BACKUP));
      expect(await succeed(line)).toBe("");
      expect(readFileSync(join(home, "from-kuma.yaml"), "utf8")).toContain("name: Orders API\n");
    },
    "deploy/vantage monitors list --status down": async (line) => {
      expect(JSON.parse(await succeed(line, { VTG_API_KEY: newcomer().key }))).toEqual(expect.any(Array));
    },
    "printf 'https://example.com\\nexample.org\\n' | deploy/vantage batch create - --type http-status": async (
      line,
    ) => {
      // Nothing listens at example.org here.
      const { status, stdout } = await newcomer().run(line, { VTG_API_KEY: newcomer().key });
      expect(status).toBe(1);
      expect(JSON.parse(stdout)).toMatchObject({ status: "completed", total: 2, failed: 1 });
    },
    "deploy/vantage api v4/monitors --paginate": async (line) => {
      expect(JSON.parse(await succeed(line, { VTG_API_KEY: newcomer().key }))).toMatchObject({
        meta: { api_version: "4.0" },
      });
    },
    "deploy/vantage api v4/monitors -f name=Sync -f check_type=heartbeat -F heartbeat[period_seconds]=3600": async (
      line,
    ) => {
      const made = JSON.parse(await succeed(line, { VTG_API_KEY: newcomer().key })) as object;
      expect(made).toMatchObject({ data: { name: "Sync", heartbeat: { period_seconds: 3_600 } } });
    },
  };
}
