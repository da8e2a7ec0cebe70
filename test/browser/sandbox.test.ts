import { readFileSync, readdirSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { browserAccount } from "#shared/process/chromium.ts";
import { agentBrowser, describeBrowser, leftovers } from "#test/browser/chromium.ts";
import { runningBrowser } from "#test/browser/running.ts";
import { startHttpServer } from "#test/servers/http.ts";

afterAll(async () => {
  await leftovers();
});

/** Reads a field of /proc/<pid>/status (proc_pid_status(5)) as the words after its name. */
function statusOf(pid: number, field: string): readonly string[] {
  const text = readFileSync(`/proc/${pid}/status`, "utf8");
  return (new RegExp(`^${field}:[ \\t]*(.*)$`, "m").exec(text)?.[1] ?? "").split(/\s+/).filter((word) => word !== "");
}

/** SECCOMP_MODE_FILTER of prctl(2). */
const FILTERED = ["2"];

const isRoot = process.getuid?.() === 0;
if (!isRoot) console.log("skipped: only root runs the browser as another user");

describeBrowser("the browser of an agent that runs as root", () => {
  it.runIf(isRoot)("runs as nobody, in its own folder, and its pages in the sandbox", async () => {
    const { uid, gid } = browserAccount() ?? expect.fail("root has no account for its browser");
    const seen = Promise.withResolvers<void>();
    const site = await startHttpServer({
      handler: (_request, response, { path }) => {
        if (path === "/")
          response.writeHead(200, { "content-type": "text/html" }).end("<p>x<script src=/held></script>");
        // The page waits for this script, so that its processes can be looked at.
        else void seen.promise.then(() => response.end());
        if (path === "/held") look();
        return true;
      },
    });
    const found: Record<string, unknown>[] = [];
    const look = (): void => {
      const { driver, browser, renderers } = runningBrowser();
      for (const pid of [driver, browser, ...renderers]) {
        const id = pid ?? expect.fail("a process of the browser is missing");
        const kind = id === driver ? "driver" : id === browser ? "browser" : "renderer";
        found.push({ kind, uids: statusOf(id, "Uid"), gids: statusOf(id, "Gid"), groups: statusOf(id, "Groups") });
        if (kind === "renderer") found.push({ kind: "its filter", seccomp: statusOf(id, "Seccomp") });
      }
      const folder = readdirSync(tmpdir()).filter((name) => name.startsWith("vantage-browser-"));
      found.push({ kind: "folders", owners: folder.map((name) => statSync(join(tmpdir(), name)).uid) });
      seen.resolve();
    };
    const outcome = await agentBrowser()(`${site.url}/`);
    await site.close();
    expect(outcome.status).toBe("ok");
    const ids = (id: number) => Array.from({ length: 4 }, () => String(id));
    const kinds = found.map(({ kind }) => kind);
    expect(kinds).toEqual(expect.arrayContaining(["driver", "browser", "renderer"]));
    for (const process of found) {
      if (process["kind"] === "its filter") expect(process["seccomp"]).toEqual(FILTERED);
      else if (process["kind"] === "folders") expect(process["owners"]).toContain(uid);
      else expect(process).toMatchObject({ uids: ids(uid), gids: ids(gid), groups: [] });
    }
  });
});
