import { withoutControls } from "#shared/text/plain-line.ts";
import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { isRecord } from "#shared/text/is-record.ts";
import type { Opened } from "#probe-agent/data/opened.ts";
import type { CtLog } from "#probe-agent/analysis/tls/ssl/ct-log.ts";

const SETTING = "VANTAGE_CT_LOG_LIST";
/** The browsers' lists have about 100 KB. */
const MAX_BYTES = 8 * 1024 * 1024;
const MAX_TEXT = 200;

/** Logs by their ids. */
type CtLogs = ReadonlyMap<string, CtLog>;

/** Reads a list of logs (log_list.json, version 3) once; null if no file is configured. */
export function openCtLogs(file: string | null): Opened<CtLogs | null> {
  if (file === null) return { ok: true, data: null };
  try {
    if (statSync(file).size > MAX_BYTES) return fault(`${file}: larger than ${MAX_BYTES / 1024 / 1024} MB`);
    const logs = parseCtLogs(readFileSync(file, "utf8"));
    return logs === null ? fault(`${file}: not a log_list.json of version 3`) : { ok: true, data: logs };
  } catch (error) {
    return fault(error instanceof Error ? error.message : String(error));
  }
}

function fault(words: string): { ok: false; line: string } {
  return { ok: false, line: `${SETTING}: ${withoutControls(words).slice(0, 400)}` };
}

/**
 * Parses the file's text; null if it is not such a list. Leaves out logs whose id is not the hash of their key (RFC
 * 6962 section 3.2).
 */
export function parseCtLogs(text: string): CtLogs | null {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    return null;
  }
  const operators = isRecord(parsed) ? parsed["operators"] : undefined;
  if (!Array.isArray(operators)) return null;
  const logs = (operators as readonly unknown[]).flatMap((operator) => (isRecord(operator) ? parseLogs(operator) : []));
  return logs.length === 0 ? null : new Map(logs);
}

/** Returns the logs of an operator. Logs of RFC 6962 and of the static API are in two lists with the same fields. */
function parseLogs(operator: Readonly<Record<string, unknown>>): [string, CtLog][] {
  const rows = [operator["logs"], operator["tiled_logs"]].flatMap((list): unknown[] =>
    Array.isArray(list) ? list : [],
  );
  return rows.flatMap((row): [string, CtLog][] => {
    if (!isRecord(row)) return [];
    const { description, key, log_id: id, state } = row;
    if (typeof key !== "string" || typeof id !== "string") return [];
    const octets = Buffer.from(key, "base64");
    if (createHash("sha256").update(octets).digest("base64") !== id) return [];
    const [word] = isRecord(state) ? Object.keys(state) : [];
    const name = parseText(description) ?? parseText(row["url"]) ?? parseText(row["submission_url"]) ?? id;
    return [[id, { name, operator: parseText(operator["name"]), state: parseText(word), key: octets }]];
  });
}

function parseText(value: unknown): string | null {
  return typeof value === "string" ? withoutControls(value).slice(0, MAX_TEXT) : null;
}
