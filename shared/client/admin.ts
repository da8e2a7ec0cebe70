import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { callService, explainNoAnswer, field, type Call } from "#shared/client/call.ts";
import { exitCodeOf, FORBIDDEN, NO_SERVICE, USAGE } from "#shared/client/exit-codes.ts";
import { listenerUrl } from "#shared/settings/address.ts";
import { readSettings, SETTING_ROWS, type Environment } from "#shared/settings/settings-parse.ts";
import type { Setting } from "#shared/settings/row.ts";
import type { Settings } from "#shared/settings/settings.ts";

/** Settings with the control plane's address and the operator's credentials. */
const NAMES: ReadonlySet<string> = new Set([
  "VANTAGE_BASE_URL",
  "VANTAGE_HTTP_ADDR",
  "VANTAGE_TLS_CERT",
  "VANTAGE_TLS_KEY",
  "VANTAGE_DATA_DIR",
  "VANTAGE_ADMIN_TOKEN",
]);

/** Rows of these settings, for flags. */
export const ADMIN_ROWS: readonly Setting<unknown>[] = SETTING_ROWS.filter((row) => NAMES.has(row.name));

/** The response's `data`, or one line that describes the failure, with its exit status. */
type AdminAnswer =
  | { readonly ok: true; readonly data: unknown }
  | { readonly ok: false; readonly line: string; readonly exit: number };

/**
 * Sends one request to the admin API. Base address: VANTAGE_BASE_URL, else this machine's VANTAGE_HTTP_ADDR. Token:
 * VANTAGE_ADMIN_TOKEN, else the token in the data directory. `path` is relative to /api/admin.
 */
export async function askAdmin(
  environment: Environment,
  directory: string,
  path: string,
  call: Call,
): Promise<AdminAnswer> {
  const read = readSettings(environment, "control-plane");
  if (!read.ok) return { ...read, exit: USAGE };
  const { settings } = read;
  const token = operatorToken(settings, directory);
  if (token === null) {
    const line = `no operator token: set VANTAGE_ADMIN_TOKEN, or VANTAGE_DATA_DIR to the control plane's data directory (${settings.dataDir} has no readable admin-token)`;
    return { ok: false, line, exit: FORBIDDEN };
  }
  const base = settings.baseUrl ?? listenerUrl(settings.httpAddr, settings.tlsCert !== null);
  try {
    const answer = await callService(`${base}/api/admin${path}`, { ...call, token, own: settings.baseUrl === null });
    if (answer.status < 300) return { ok: true, data: field(answer.body, "data") };
    return { ok: false, line: explain(base, answer.status, answer.body), exit: exitCodeOf(answer.status, answer.body) };
  } catch (error) {
    return { ok: false, line: explainNoAnswer(base, error), exit: NO_SERVICE };
  }
}

/** Returns the operator's token: the configured one, or that of the data directory; null if it cannot be read. */
export function operatorToken(settings: Settings, directory: string): string | null {
  if (settings.adminToken !== null) return settings.adminToken;
  try {
    return readFileSync(join(resolve(directory, settings.dataDir), "admin-token"), "utf8").trim();
  } catch {
    return null;
  }
}

function explain(base: string, status: number, body: unknown): string {
  const error = field(body, "error");
  if (status === 401) return `${base} rejects this operator token`;
  const message = field(error, "message");
  // The message contains the field and the allowed values; `field` and `reason` are for programs.
  return `${base} answered ${status}${typeof message === "string" && message !== "" ? `: ${message}` : ""}`;
}
