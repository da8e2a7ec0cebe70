import { describe, expect, it } from "vitest";
import { readDocument } from "#shared/client/apply/read-document.ts";
import { writeYaml } from "#shared/json/yaml.ts";
import { convertBackup } from "#shared/client/uptime-kuma/convert.ts";
import { readBackup } from "#shared/client/uptime-kuma/read-backup.ts";
import { NO_ALLOW_LISTS, createEgress } from "#shared/internet/egress.ts";
import { decideTarget } from "#control-plane/checks/target.ts";
import { parseJsonObject } from "#control-plane/http/json.ts";
import { defaultDraft } from "#control-plane/outages/kinds/defaults.ts";
import { contractOf, isProbed, kindOf } from "#control-plane/outages/kinds/kinds.ts";
import { findScheduleProblem } from "#control-plane/watching/heartbeats/heartbeats.ts";
import { mergeGiven } from "#control-plane/monitors/settings/merge.ts";
import { readRow } from "#control-plane/monitors/transfer/row.ts";
import { findConflict } from "#control-plane/monitors/vet.ts";
import { FIELDS, hostileMonitor, VALUES } from "#test/shared/client/uptime-kuma/hostile.ts";

const OPTIONS = { includeSecrets: true, includePrivate: false, shortestIntervalMinutes: 1 };
const AGENTS = [createEgress(NO_ALLOW_LISTS)];

/** Returns why the service refuses a row; null if it does not. */
function refusalOf(row: unknown): string | null {
  const read = readRow(row);
  if (!read.ok) return JSON.stringify(read.problems);
  const { depends_on: _name, composite: _names, secrets_missing: _missing, ...given } = read.value;
  const merged = mergeGiven(defaultDraft(given.check_type ?? "http", 1), given);
  if (!merged.ok) return JSON.stringify(merged.problem);
  const { check_type: type, url, heartbeat } = merged.value;
  const conflict = findConflict(merged.value) ?? (heartbeat === null ? null : findScheduleProblem(heartbeat));
  if (conflict !== null) return JSON.stringify(conflict);
  if (!isProbed(type)) return null;
  const contract = contractOf(type);
  const target = { [contract.target?.param ?? "url"]: kindOf(type).target?.ruledPart(url) ?? url };
  const decided = decideTarget(contract, target, AGENTS);
  return decided.ok ? null : JSON.stringify(decided);
}

describe("a backup in which a field has a hostile value", () => {
  it.each(FIELDS)("$field: every row of the document is one that the service takes", ({ field, types }) => {
    const monitors = types.flatMap((type) => VALUES.map((value) => hostileMonitor(type, { [field]: value })));
    const read = readBackup(Buffer.from(JSON.stringify(monitors)));
    if (!read.ok) throw new Error(read.why);
    const { document, lines } = convertBackup(read.backup, OPTIONS);
    const written = readDocument(writeYaml(document), {
      environment: {},
      readFile: () => ({ ok: false, why: "none" }),
    });
    if (!written.ok) throw new Error(JSON.stringify(written.problems));
    // YAML has the same values, and JSON takes them to the service.
    expect(written.read.document).toEqual(document);
    expect(parseJsonObject(Buffer.from(JSON.stringify(document)))).toMatchObject({ ok: true });
    const refused = document.monitors.map((row) => [refusalOf(row), row] as const).filter(([why]) => why !== null);
    expect(refused.slice(0, 5)).toEqual([]);
    expect(document.monitors.length).toBeGreaterThan(0);
    const names = document.monitors.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    // No line can control a terminal, or be taken for another one.
    expect(lines.filter((line) => /\p{Cc}/u.test(line) || !line.isWellFormed())).toEqual([]);
  });
});
