import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { describeError, hasErrorCode } from "#shared/contracts/error-code.ts";
import { isRecord } from "#shared/text/is-record.ts";
import type { Environment } from "#shared/settings/settings-parse.ts";

/** Name of the profile that is used if none is named. */
export const DEFAULT_PROFILE = "default";
/** Names of profiles. */
export const PROFILE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
/** What PROFILE_NAME allows, for messages. */
export const PROFILE_NAMES = "1 to 64 letters, digits, dots, hyphens and underscores";

/** A service and the API key with which it is called. */
export interface Profile {
  /** Base address without a final slash. */
  readonly url: string;
  readonly key: string;
}

/** Stored profiles by name, or the line that says why they cannot be used. */
type ReadProfiles =
  | { readonly ok: true; readonly profiles: Readonly<Record<string, Profile>> }
  | { readonly ok: false; readonly line: string };

/** Permissions of a file or folder for others than its owner. */
const OTHERS = 0o077;

/**
 * Returns the path of the file of profiles: below XDG_CONFIG_HOME if that is an absolute path (XDG Base Directory
 * Specification: relative ones are ignored), else below HOME; null without either.
 */
export function profilesFile(environment: Environment): string | null {
  const [config = "", home = ""] = [environment["XDG_CONFIG_HOME"], environment["HOME"]];
  const root = isAbsolute(config) ? config : isAbsolute(home) ? join(home, ".config") : null;
  return root === null ? null : join(root, "vantage", "profiles.json");
}

/** Reads the stored profiles; none if there is no file. A file that other users can read is refused. */
export function readProfiles(file: string): ReadProfiles {
  try {
    if ((statSync(file).mode & OTHERS) !== 0) {
      return { ok: false, line: `other users can read the keys in ${file}: revoke them, or run chmod 600 ${file}` };
    }
    const profiles = parseProfiles(readFileSync(file, "utf8"));
    if (profiles === null) return { ok: false, line: `${file} is not a file of profiles: correct or remove it` };
    return { ok: true, profiles };
  } catch (error) {
    if (hasErrorCode(error, "ENOENT")) return { ok: true, profiles: {} };
    return { ok: false, line: `${file} cannot be read (${describeError(error)})` };
  }
}

function parseProfiles(text: string): Readonly<Record<string, Profile>> | null {
  try {
    const { profiles } = JSON.parse(text) as { readonly profiles?: unknown };
    if (!isRecord(profiles)) return null;
    const isProfile = (one: unknown) =>
      isRecord(one) && typeof one["url"] === "string" && typeof one["key"] === "string";
    return Object.values(profiles).every(isProfile) ? (profiles as Readonly<Record<string, Profile>>) : null;
  } catch {
    return null;
  }
}

/**
 * Replaces the stored profiles, with mode 0600 in a folder of mode 0700; without profiles the file is removed. Throws
 * the error of the file system.
 */
export function writeProfiles(file: string, profiles: Readonly<Record<string, Profile>>): void {
  if (Object.keys(profiles).length === 0) return rmSync(file, { force: true });
  const folder = join(file, "..");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // A folder of before keeps its mode.
  if ((statSync(folder).mode & OTHERS) !== 0) chmodSync(folder, 0o700);
  // A reader sees the old file or the new one, and an interrupted write leaves the old one.
  const next = `${file}.${process.pid}`;
  rmSync(next, { force: true });
  writeFileSync(next, `${JSON.stringify({ profiles }, null, 2)}\n`, { mode: 0o600, flag: "wx" });
  renameSync(next, file);
}
