import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { readConfig } from "#probe-agent/config.ts";
import { openCtLogs, parseCtLogs } from "#probe-agent/data/ct-logs.ts";
import { openData } from "#probe-agent/data/open.ts";
import { createLog, logList } from "#test/servers/ct.ts";

const folder = mkdtempSync(join(tmpdir(), "ct-logs-"));
afterAll(() => rmSync(folder, { recursive: true }));
const [one, two] = [createLog(), createLog("rsa")];
const LIST = logList(
  "Operator",
  [
    ["One", one],
    ["Two", two],
  ],
  "retired",
);

function write(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

/** Returns the list with a change to its one operator. */
function changed(change: (operator: { logs: Record<string, unknown>[]; [field: string]: unknown }) => void): string {
  const list = JSON.parse(LIST) as { operators: [{ logs: Record<string, unknown>[] }] };
  change(list.operators[0]);
  return JSON.stringify(list);
}

describe("a list of logs (log_list.json, version 3)", () => {
  it("returns logs by id", () => {
    const logs = parseCtLogs(LIST);
    expect([...(logs?.keys() ?? [])]).toEqual([one.id, two.id]);
    expect(logs?.get(two.id)).toEqual({
      name: "Two",
      operator: "Operator",
      state: "retired",
      key: Buffer.from(two.key),
    });
  });

  it("includes logs of the static API", () => {
    const text = changed((operator) => {
      operator["tiled_logs"] = operator.logs.splice(1).map(({ url, ...log }) => ({ ...log, submission_url: url }));
    });
    expect(parseCtLogs(text)?.get(two.id)?.name).toBe("Two");
  });

  it("leaves out a log whose id is not the hash of its key, and entries that are not logs", () => {
    const text = changed((operator) => {
      operator.logs[0] = { ...operator.logs[0], log_id: two.id };
      operator.logs.push({}, { key: 7, log_id: 7 }, null as never, "log" as never);
    });
    expect([...(parseCtLogs(text)?.values() ?? [])].map(({ name }) => name)).toEqual(["Two"]);
  });

  it("names a log without description by its URL, and has null for a missing state", () => {
    const text = changed((operator) => {
      for (const log of operator.logs) {
        delete log["description"];
        delete log["state"];
      }
    });
    expect(parseCtLogs(text)?.get(one.id)).toMatchObject({ name: "https://log.test/", state: null });
  });

  it.each(["", "[]", "{}", '{"operators":{}}', '{"operators":[]}', "nonsense", '{"operators":[{"logs":[{}]}]}'])(
    "rejects %s",
    (text) => {
      expect(parseCtLogs(text)).toBeNull();
    },
  );
});

describe("the CT log file", () => {
  it("is opened with the agent's other data", () => {
    const read = readConfig({ VANTAGE_CT_LOG_LIST: write("list.json", `\uFEFF${LIST}`) });
    if (!read.ok) throw new Error(read.line);
    const opened = openData(read.config);
    if (!opened.ok) throw new Error(opened.line);
    expect(opened.data.ctLogs?.get(one.id)?.name).toBe("One");
  });

  it("is optional, and without it no log has a name", () => {
    expect(openCtLogs(null)).toEqual({ ok: true, data: null });
  });

  it("stops the start with one line that names the setting if it cannot be used", () => {
    const huge = write("huge.json", "");
    truncateSync(huge, 9 * 1024 * 1024);
    for (const file of [join(folder, "absent.json"), write("bad.json", "{}"), huge, folder]) {
      const opened = openCtLogs(file);
      expect(opened).toMatchObject({ ok: false });
      expect(opened.ok ? "" : opened.line).toMatch(/^VANTAGE_CT_LOG_LIST: [^\n]+$/);
    }
  });
});
