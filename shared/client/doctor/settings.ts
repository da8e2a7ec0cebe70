import { accessSync, constants } from "node:fs";
import { resolve } from "node:path";
import { fail, ok, warn, type Finding, type Patient } from "#shared/client/doctor/finding.ts";
import { describeError } from "#shared/contracts/error-code.ts";
import type { Settings } from "#shared/settings/settings.ts";

/** Anyone who can reach the API can guess a shorter token, characters. */
const SHORT_TOKEN = 16;

/** Checks for values that are allowed but unsafe. */
export function checkValues({ settings }: Patient): Finding[] {
  const findings: Finding[] = [];
  const { adminToken, allowTargets, allowNames } = settings;
  if (adminToken !== null && adminToken.length < SHORT_TOKEN)
    findings.push(
      warn("settings", `VANTAGE_ADMIN_TOKEN is shorter than ${SHORT_TOKEN} characters`, "use a longer token"),
    );
  const open = [...(allowTargets ?? []), ...(allowNames ?? [])];
  if (open.length > 0) {
    findings.push(
      warn(
        "settings",
        `every user of the agent can reach ${open.join(", ")}`,
        "confirm that this is intended (VANTAGE_ALLOW_TARGETS, VANTAGE_ALLOW_NAMES)",
      ),
    );
  }
  return findings.length > 0 ? findings : [ok("settings", "valid")];
}

/** Returns the files and directories that settings name and a process reads. */
function namedFiles(settings: Settings): readonly (readonly [string, string | null])[] {
  return [
    ["VANTAGE_TLS_CERT", settings.tlsCert],
    ["VANTAGE_TLS_KEY", settings.tlsKey],
    ["VANTAGE_PLANS", settings.plansFile],
    ["VANTAGE_JOIN_TOKEN_FILE", settings.joinTokenFile],
    ["VANTAGE_OPT_OUT_FILE", settings.optOutFile],
    ["VANTAGE_RESOLVERS", settings.resolvers !== null && "file" in settings.resolvers ? settings.resolvers.file : null],
    ["VANTAGE_TRUST_ANCHORS", settings.trustAnchors],
    ["VANTAGE_GEO_DB", settings.geoDb],
    ["VANTAGE_ASN_DB", settings.asnDb],
    ["VANTAGE_HSTS_PRELOAD_FILE", settings.hstsPreloadFile],
    ["VANTAGE_CT_LOG_LIST", settings.ctLogList],
    ["VANTAGE_TECH_RULES_DIR", settings.techRulesDir],
    ["VANTAGE_AI_BOTS_FILE", settings.aiBotsFile],
  ];
}

/** Checks that each of these files can be read. */
export function checkFiles({ settings, directory }: Patient): Finding[] {
  return namedFiles(settings).flatMap(([name, file]) => {
    if (file === null) return [];
    try {
      accessSync(resolve(directory, file), constants.R_OK);
      return [];
    } catch (error) {
      return [
        fail(
          "files",
          `${name} ${file} cannot be read (${describeError(error)})`,
          "correct the path or its permissions",
        ),
      ];
    }
  });
}

/** Checks that the data directory, or its nearest existing ancestor, is writable. */
export function checkDataDirectory({ dataDirectory }: Patient): Finding {
  for (let path = dataDirectory; ; path = resolve(path, "..")) {
    try {
      accessSync(path, constants.W_OK | constants.X_OK);
      return ok("data directory", path === dataDirectory ? `${path} is writable` : `${dataDirectory} will be created`);
    } catch (error) {
      if (describeError(error) === "ENOENT" && path !== "/") continue;
      return fail(
        "data directory",
        `${path} is not writable (${describeError(error)})`,
        "make it writable or set VANTAGE_DATA_DIR",
      );
    }
  }
}
