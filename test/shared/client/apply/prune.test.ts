import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startHttpServer } from "#test/servers/http.ts";
import { runVantage } from "#test/shared/client/command-line.ts";
import { openAccountDocuments, type AccountDocuments } from "#test/support/account-documents.ts";
import { startMonitorService, type MonitorService } from "#test/support/monitor-service.ts";

let service: MonitorService;
let documents: AccountDocuments;
let key: string;
const folder = mkdtempSync(join(tmpdir(), "vantage-prune-"));
const file = join(folder, "vantage.yaml");

beforeAll(async () => {
  service = await startMonitorService();
  documents = openAccountDocuments(service);
  ({ key } = await documents.createOwner());
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await service?.stop();
});

const write = (text: string) => writeFileSync(file, text);
const apply = (words: readonly string[] = ["--yes"], url = service.url) =>
  runVantage(["apply", "-f", file, ...words], { VTG_API_KEY: key, VANTAGE_BASE_URL: url });
const namesOf = async () => (await documents.exportOf(key)).monitors.map(({ name }) => name);
const heartbeatNamed = (name: string) =>
  `\n  - {name: ${name}, check_type: heartbeat, heartbeat: {period_seconds: 3600}}`;

it("goes on with --prune after a deletion that fails, and one that somebody else has made is none", async () => {
  write(`version: 2\nowner: shop\nmonitors:${["One", "Two", "Three"].map(heartbeatNamed).join("")}`);
  await apply();
  write("version: 2\nowner: shop\nmonitors: []\n");
  const deletions: string[] = [];
  // The first deletion fails inside the service; the second is made by somebody else just before.
  const between = await startHttpServer({
    handler: (request, response, { method, path, headers, body }) => {
      const sent = Object.fromEntries(headers.filter(([name]) => /^(?:x-api-key|content-type)$/i.test(name)));
      const forward = () => fetch(`${service.url}${path}`, { method, headers: sent, ...(body === "" ? {} : { body }) });
      const isDeletion = request.method === "DELETE";
      if (isDeletion) deletions.push(path);
      void (async () => {
        if (isDeletion && deletions.length === 2) await forward();
        const answer = isDeletion && deletions.length === 1 ? FAILED : await forward();
        response.writeHead(answer.status, { "content-type": "application/json" });
        response.end(await answer.text());
      })();
      return true;
    },
  });
  const FAILED = Response.json({ error: { code: "internal_error", message: "Internal error." } }, { status: 500 });
  try {
    const pruned = await apply(["--prune", "--yes"], between.url);
    expect(pruned, pruned.complained).toMatchObject({ status: 5, said: expect.not.stringContaining("deleted") });
    expect(pruned.complained).toMatch(
      /internal_error: .* \(at the deletion of \w+\)\. Created 0, changed 0, deleted 1,/,
    );
    expect(deletions).toHaveLength(3);
    expect(await namesOf()).toHaveLength(1);
    expect(await apply(["--prune", "--yes"])).toMatchObject({ status: 0 });
    expect(await namesOf()).toEqual([]);
  } finally {
    await between.close();
  }
});
