import { LAUNCHER } from "#shared/settings/launcher.ts";
import { SETTINGS, type Settings } from "#shared/settings/settings.ts";
import type { Setting } from "#shared/settings/row.ts";

/** The environment: process.env of a main.ts, or an object of a test. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The settings, or the error line to print before exiting with status 1. */
type ReadSettings =
  | {
      readonly ok: true;
      readonly settings: Settings;
      /** Names of the variables that were set. A port in use is replaced by a free one only if it is a default. */
      readonly given: ReadonlySet<string>;
    }
  | { readonly ok: false; readonly line: string };

/** Maximum length of a value in characters, checked before any pattern. */
const MAX_LENGTH = 100_000;

/** Every row of the table, in order. */
export const SETTING_ROWS: readonly Setting<unknown>[] = Object.values(SETTINGS);

const KNOWN = new Set(SETTING_ROWS.map((row) => row.name));

/**
 * Reads and checks all settings, including those of the other process. An empty variable counts as unset. Returns at
 * the first fault with one line that names the variable and never contains the value of a secret.
 */
export function readSettings(environment: Environment, process: "control-plane" | "agent"): ReadSettings {
  const unknown = Object.keys(environment).find((name) => name.startsWith("VANTAGE_") && !KNOWN.has(name));
  if (unknown !== undefined) return { ok: false, line: `${unknown} is not a setting${hint(unknown)}` };
  const values: Record<string, unknown> = {};
  const given = new Set<string>();
  for (const [key, row] of Object.entries<Setting<unknown>>(SETTINGS)) {
    const raw = environment[row.name]?.trim() ?? "";
    if (raw !== "") given.add(row.name);
    const text = raw === "" ? row.default : raw;
    const value = text === null ? null : text.length > MAX_LENGTH ? undefined : row.kind.parse(text);
    if (value === undefined) return { ok: false, line: refusal(row, text ?? "") };
    values[key] = value;
  }
  const settings = values as Settings;
  const conflict = conflictIn(settings, process);
  if (conflict !== null) return { ok: false, line: conflict };
  return { ok: true, settings, given };
}

/** Finds values that are valid alone but not together. */
function conflictIn(settings: Settings, process: "control-plane" | "agent"): string | null {
  if (settings.cymruZones.length !== 3) return `VANTAGE_CYMRU_ZONES must be ${SETTINGS.cymruZones.kind.allowed}`;
  if (process === "control-plane") {
    if (settings.tlsCert !== null && settings.tlsKey === null) return "VANTAGE_TLS_CERT needs VANTAGE_TLS_KEY";
    if (settings.tlsKey !== null && settings.tlsCert === null) return "VANTAGE_TLS_KEY needs VANTAGE_TLS_CERT";
    if (settings.smtpUrl !== null && settings.mailFrom === null) return "VANTAGE_SMTP_URL needs VANTAGE_MAIL_FROM";
    if (settings.mailFrom !== null && settings.smtpUrl === null) return "VANTAGE_MAIL_FROM needs VANTAGE_SMTP_URL";
    if (settings.backupSchedule !== null && settings.backupDir === null)
      return "VANTAGE_BACKUP_SCHEDULE needs VANTAGE_BACKUP_DIR";
    return null;
  }
  if (settings.joinToken !== null && settings.joinTokenFile !== null)
    return "VANTAGE_JOIN_TOKEN and VANTAGE_JOIN_TOKEN_FILE are both set: unset one of them";
  return null;
}

function refusal(row: Setting<unknown>, text: string): string {
  const shown = row.secret || text.length > 200 ? "" : `, not ${JSON.stringify(text)}`;
  const why = text.length > MAX_LENGTH ? undefined : row.kind.explain?.(text);
  return `${row.name} must be ${row.kind.allowed}${shown}${why === undefined ? "" : `; ${why}`}`;
}

function hint(name: string): string {
  const close = [...KNOWN]
    .map((known) => ({ known, distance: editDistance(name.slice(0, 64), known) }))
    .toSorted((a, b) => a.distance - b.distance)[0];
  return close && close.distance <= 3
    ? `; did you mean ${close.known}?`
    : `; ${LAUNCHER} doctor --settings lists all settings`;
}

/** Computes the Levenshtein distance row by row. */
function editDistance(left: string, right: string): number {
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i += 1) {
    const current = [i];
    for (let j = 1; j <= right.length; j += 1) {
      const replace = (previous[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1);
      current.push(Math.min(replace, (previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[right.length] ?? 0;
}
